extension Metrics {
    /// As iOS 16 writes it: no marks between thousands, and times without a zone.
    static let ios16 = #"""
        {
          "locationActivityMetrics": {
            "cumulativeBestAccuracyForNavigationTime": "20 sec",
            "cumulativeBestAccuracyTime": "30 sec",
            "cumulativeHundredMetersAccuracyTime": "30 sec",
            "cumulativeNearestTenMetersAccuracyTime": "30 sec",
            "cumulativeKilometerAccuracyTime": "20 sec",
            "cumulativeThreeKilometersAccuracyTime": "20 sec"
          },
          "cellularConditionMetrics": {
            "cellConditionTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 20, "bucketStart": "1 bars", "bucketEnd": "1 bars"},
                "1": {"bucketCount": 30, "bucketStart": "2 bars", "bucketEnd": "2 bars"},
                "2": {"bucketCount": 50, "bucketStart": "3 bars", "bucketEnd": "3 bars"}
              }
            }
          },
          "metaData": {
            "appBuildVersion": "1",
            "osVersion": "iPhone OS 16.2 (20C65)",
            "regionFormat": "US",
            "deviceType": "iPhone14,5",
            "platformArchitecture": "arm64e"
          },
          "gpuMetrics": {"cumulativeGPUTime": "20 sec"},
          "memoryMetrics": {
            "peakMemoryUsage": "200000 kB",
            "averageSuspendedMemory": {"averageValue": "100000 kB", "standardDeviation": 0, "sampleCount": 500}
          },
          "displayMetrics": {
            "averagePixelLuminance": {"averageValue": "50 apl", "standardDeviation": 0, "sampleCount": 500}
          },
          "cpuMetrics": {"cumulativeCPUTime": "100 sec", "cumulativeCPUInstructions": "100 kiloinstructions"},
          "networkTransferMetrics": {
            "cumulativeCellularDownload": "80000 kB",
            "cumulativeWifiDownload": "60000 kB",
            "cumulativeCellularUpload": "70000 kB",
            "cumulativeWifiUpload": "50000 kB"
          },
          "diskIOMetrics": {"cumulativeLogicalWrites": "1300 kB"},
          "applicationLaunchMetrics": {
            "histogrammedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1000 ms", "bucketEnd": "1010 ms"},
                "1": {"bucketCount": 60, "bucketStart": "2000 ms", "bucketEnd": "2010 ms"},
                "2": {"bucketCount": 30, "bucketStart": "3000 ms", "bucketEnd": "3010 ms"}
              }
            },
            "histogrammedResumeTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 60, "bucketStart": "200 ms", "bucketEnd": "210 ms"},
                "1": {"bucketCount": 70, "bucketStart": "300 ms", "bucketEnd": "310 ms"},
                "2": {"bucketCount": 80, "bucketStart": "500 ms", "bucketEnd": "510 ms"}
              }
            },
            "histogrammedOptimizedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1000 ms", "bucketEnd": "1010 ms"},
                "1": {"bucketCount": 60, "bucketStart": "2000 ms", "bucketEnd": "2010 ms"},
                "2": {"bucketCount": 30, "bucketStart": "3000 ms", "bucketEnd": "3010 ms"}
              }
            },
            "histogrammedExtendedLaunch": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1000 ms", "bucketEnd": "1010 ms"},
                "1": {"bucketCount": 60, "bucketStart": "2000 ms", "bucketEnd": "2010 ms"},
                "2": {"bucketCount": 30, "bucketStart": "3000 ms", "bucketEnd": "3010 ms"}
              }
            }
          },
          "applicationTimeMetrics": {
            "cumulativeForegroundTime": "700 sec",
            "cumulativeBackgroundTime": "40 sec",
            "cumulativeBackgroundAudioTime": "30 sec",
            "cumulativeBackgroundLocationTime": "30 sec"
          },
          "applicationResponsivenessMetrics": {
            "histogrammedAppHangTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "0 ms", "bucketEnd": "100 ms"},
                "1": {"bucketCount": 60, "bucketStart": "100 ms", "bucketEnd": "400 ms"},
                "2": {"bucketCount": 30, "bucketStart": "400 ms", "bucketEnd": "700 ms"}
              }
            }
          },
          "signpostMetrics": [
            {
              "signpostIntervalData": {
                "histogrammedSignpostDurations": {
                  "histogramNumBuckets": 3,
                  "histogramValue": {
                    "0": {"bucketCount": 50, "bucketStart": "0 ms", "bucketEnd": "100 ms"},
                    "1": {"bucketCount": 60, "bucketStart": "100 ms", "bucketEnd": "400 ms"},
                    "2": {"bucketCount": 30, "bucketStart": "400 ms", "bucketEnd": "700 ms"}
                  }
                },
                "signpostCumulativeCPUTime": "30000 ms",
                "signpostAverageMemory": "100000 kB",
                "signpostCumulativeLogicalWrites": "600 kB"
              },
              "signpostCategory": "Uploads",
              "signpostName": "Compress",
              "totalSignpostCount": 30
            }
          ],
          "appVersion": "1.2",
          "timeStampBegin": "2022-12-20 00:00:00",
          "timeStampEnd": "2022-12-21 00:00:00",
          "applicationExitMetrics": {
            "foregroundExitData": {
              "cumulativeNormalAppExitCount": 12,
              "cumulativeBadAccessExitCount": 1,
              "cumulativeAbnormalExitCount": 0
            },
            "backgroundExitData": {
              "cumulativeMemoryPressureExitCount": 7,
              "cumulativeNormalAppExitCount": 3,
              "cumulativeCPUResourceLimitExitCount": 0
            }
          },
          "animationMetrics": {"scrollHitchTimeRatio": "12.5 ms per s"}
        }
        """#

    /// As iOS 26 writes it, with a section that nobody knows yet.
    static let ios26 = #"""
        {
          "locationActivityMetrics": {
            "cumulativeBestAccuracyForNavigationTime": "20 sec",
            "cumulativeBestAccuracyTime": "30 sec",
            "cumulativeHundredMetersAccuracyTime": "30 sec",
            "cumulativeNearestTenMetersAccuracyTime": "30 sec",
            "cumulativeKilometerAccuracyTime": "20 sec",
            "cumulativeThreeKilometersAccuracyTime": "20 sec"
          },
          "cellularConditionMetrics": {
            "cellConditionTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 20, "bucketStart": "1 bars", "bucketEnd": "1 bars"},
                "1": {"bucketCount": 30, "bucketStart": "2 bars", "bucketEnd": "2 bars"},
                "2": {"bucketCount": 50, "bucketStart": "3 bars", "bucketEnd": "3 bars"}
              }
            }
          },
          "metaData": {
            "appBuildVersion": "1",
            "osVersion": "iPhone OS 26.0 (23A341)",
            "regionFormat": "US",
            "deviceType": "iPhone18,1",
            "platformArchitecture": "arm64e",
            "bundleIdentifier": "com.example.app",
            "isTestFlightApp": false,
            "lowPowerModeEnabled": false,
            "pid": -1
          },
          "gpuMetrics": {"cumulativeGPUTime": "20 sec"},
          "memoryMetrics": {
            "peakMemoryUsage": "200000 kB",
            "averageSuspendedMemory": {"averageValue": "0 kB", "standardDeviation": -1, "sampleCount": 0}
          },
          "displayMetrics": {
            "averagePixelLuminance": {"averageValue": "50 apl", "standardDeviation": 0, "sampleCount": 500}
          },
          "cpuMetrics": {"cumulativeCPUTime": "100 sec", "cumulativeCPUInstructions": "100 kiloinstructions"},
          "networkTransferMetrics": {
            "cumulativeCellularDownload": "80000 kB",
            "cumulativeWifiDownload": "60000 kB",
            "cumulativeCellularUpload": "70000 kB",
            "cumulativeWifiUpload": "50000 kB"
          },
          "diskIOMetrics": {"cumulativeLogicalWrites": "1300 kB"},
          "applicationLaunchMetrics": {
            "histogrammedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1000 ms", "bucketEnd": "1010 ms"},
                "1": {"bucketCount": 60, "bucketStart": "2000 ms", "bucketEnd": "2010 ms"},
                "2": {"bucketCount": 30, "bucketStart": "3000 ms", "bucketEnd": "3010 ms"}
              }
            },
            "histogrammedResumeTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 60, "bucketStart": "200 ms", "bucketEnd": "210 ms"},
                "1": {"bucketCount": 70, "bucketStart": "300 ms", "bucketEnd": "310 ms"},
                "2": {"bucketCount": 80, "bucketStart": "500 ms", "bucketEnd": "510 ms"}
              }
            }
          },
          "applicationTimeMetrics": {
            "cumulativeForegroundTime": "700 sec",
            "cumulativeBackgroundTime": "40 sec",
            "cumulativeBackgroundAudioTime": "30 sec",
            "cumulativeBackgroundLocationTime": "30 sec"
          },
          "applicationResponsivenessMetrics": {
            "histogrammedAppHangTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "0 ms", "bucketEnd": "100 ms"},
                "1": {"bucketCount": 60, "bucketStart": "100 ms", "bucketEnd": "400 ms"},
                "2": {"bucketCount": 30, "bucketStart": "400 ms", "bucketEnd": "700 ms"}
              }
            }
          },
          "signpostMetrics": [
            {
              "signpostIntervalData": {
                "histogrammedSignpostDurations": {
                  "histogramNumBuckets": 3,
                  "histogramValue": {
                    "0": {"bucketCount": 50, "bucketStart": "0 ms", "bucketEnd": "100 ms"},
                    "1": {"bucketCount": 60, "bucketStart": "100 ms", "bucketEnd": "400 ms"},
                    "2": {"bucketCount": 30, "bucketStart": "400 ms", "bucketEnd": "700 ms"}
                  }
                },
                "signpostCumulativeCPUTime": "30000 ms",
                "signpostAverageMemory": "100000 kB",
                "signpostCumulativeLogicalWrites": "600 kB"
              },
              "signpostCategory": "Uploads",
              "signpostName": "Compress",
              "totalSignpostCount": 30
            }
          ],
          "appVersion": "1.2",
          "timeStampBegin": "2025-10-10 00:00:00",
          "timeStampEnd": "2025-10-11 00:00:00",
          "applicationExitMetrics": {
            "foregroundExitData": {
              "cumulativeNormalAppExitCount": 12,
              "cumulativeBadAccessExitCount": 1,
              "cumulativeAbnormalExitCount": 0
            },
            "backgroundExitData": {
              "cumulativeMemoryPressureExitCount": 7,
              "cumulativeNormalAppExitCount": 3,
              "cumulativeCPUResourceLimitExitCount": 0
            }
          },
          "animationMetrics": {"scrollHitchTimeRatio": "12.5 ms per s", "hitchTimeRatio": "10.25 ms per s"},
          "multipleAppVersions": "NO",
          "diskSpaceUsageMetrics": {
            "totalBinaryFileSize": "90000 kB",
            "totalBinaryFileCount": 3,
            "totalDataFileSize": "1200 kB",
            "totalDataFileCount": 40,
            "totalCacheFolderSize": "700 kB",
            "totalCloneSize": "0 kB",
            "totalDiskSpaceUsedSize": "92000 kB",
            "totalDiskSpaceCapacity": "256000000 kB"
          },
          "thermalMetrics": {"seriousTime": "7 sec"}
        }
        """#
}
