/// Payloads of metrics, as systems write them; the numbers are those that Xcode simulates.
enum Metrics {
    /// As iOS 13 writes it, set to English.
    static let ios13 = #"""
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
            "osVersion": "iPhone OS 13.1.3 (17A878)",
            "regionFormat": "US",
            "deviceType": "iPhone9,2"
          },
          "gpuMetrics": {"cumulativeGPUTime": "20 sec"},
          "memoryMetrics": {
            "peakMemoryUsage": "200,000 kB",
            "averageSuspendedMemory": {"averageValue": "100,000 kB", "standardDeviation": 0, "sampleCount": 500}
          },
          "displayMetrics": {
            "averagePixelLuminance": {"averageValue": "50 apl", "standardDeviation": 0, "sampleCount": 500}
          },
          "cpuMetrics": {"cumulativeCPUTime": "100 sec"},
          "networkTransferMetrics": {
            "cumulativeCellularDownload": "80,000 kB",
            "cumulativeWifiDownload": "60,000 kB",
            "cumulativeCellularUpload": "70,000 kB",
            "cumulativeWifiUpload": "50,000 kB"
          },
          "diskIOMetrics": {"cumulativeLogicalWrites": "1,300 kB"},
          "applicationLaunchMetrics": {
            "histogrammedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1,000 ms", "bucketEnd": "1,010 ms"},
                "1": {"bucketCount": 60, "bucketStart": "2,000 ms", "bucketEnd": "2,010 ms"},
                "2": {"bucketCount": 30, "bucketStart": "3,000 ms", "bucketEnd": "3,010 ms"}
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
                "signpostCumulativeCPUTime": "30,000 ms",
                "signpostAverageMemory": "100,000 kB",
                "signpostCumulativeLogicalWrites": "600 kB"
              },
              "signpostCategory": "Uploads",
              "signpostName": "Compress",
              "totalSignpostCount": 30
            }
          ],
          "appVersion": "1.0",
          "timeStampBegin": "2019-10-22 06:59:00 +0000",
          "timeStampEnd": "2019-10-23 06:59:00 +0000"
        }
        """#

    /// As iOS 14 writes it, set to Chinese.
    static let ios14Chinese = #"""
        {
          "locationActivityMetrics": {
            "cumulativeBestAccuracyForNavigationTime": "20秒",
            "cumulativeBestAccuracyTime": "30秒",
            "cumulativeHundredMetersAccuracyTime": "30秒",
            "cumulativeNearestTenMetersAccuracyTime": "30秒",
            "cumulativeKilometerAccuracyTime": "20秒",
            "cumulativeThreeKilometersAccuracyTime": "20秒"
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
            "osVersion": "iPhone OS 14.0.1 (18A393)",
            "regionFormat": "CN",
            "deviceType": "iPhone12,1"
          },
          "gpuMetrics": {"cumulativeGPUTime": "20秒"},
          "memoryMetrics": {
            "peakMemoryUsage": "200,000千字节",
            "averageSuspendedMemory": {"averageValue": "100,000千字节", "standardDeviation": 0, "sampleCount": 500}
          },
          "displayMetrics": {
            "averagePixelLuminance": {"averageValue": "50 apl", "standardDeviation": 0, "sampleCount": 500}
          },
          "cpuMetrics": {"cumulativeCPUTime": "100秒"},
          "networkTransferMetrics": {
            "cumulativeCellularDownload": "80,000千字节",
            "cumulativeWifiDownload": "60,000千字节",
            "cumulativeCellularUpload": "70,000千字节",
            "cumulativeWifiUpload": "50,000千字节"
          },
          "diskIOMetrics": {"cumulativeLogicalWrites": "1,300千字节"},
          "applicationLaunchMetrics": {
            "histogrammedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1,000毫秒", "bucketEnd": "1,010毫秒"},
                "1": {"bucketCount": 60, "bucketStart": "2,000毫秒", "bucketEnd": "2,010毫秒"},
                "2": {"bucketCount": 30, "bucketStart": "3,000毫秒", "bucketEnd": "3,010毫秒"}
              }
            },
            "histogrammedResumeTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 60, "bucketStart": "200毫秒", "bucketEnd": "210毫秒"},
                "1": {"bucketCount": 70, "bucketStart": "300毫秒", "bucketEnd": "310毫秒"},
                "2": {"bucketCount": 80, "bucketStart": "500毫秒", "bucketEnd": "510毫秒"}
              }
            }
          },
          "applicationTimeMetrics": {
            "cumulativeForegroundTime": "700秒",
            "cumulativeBackgroundTime": "40秒",
            "cumulativeBackgroundAudioTime": "30秒",
            "cumulativeBackgroundLocationTime": "30秒"
          },
          "applicationResponsivenessMetrics": {
            "histogrammedAppHangTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "0毫秒", "bucketEnd": "100毫秒"},
                "1": {"bucketCount": 60, "bucketStart": "100毫秒", "bucketEnd": "400毫秒"},
                "2": {"bucketCount": 30, "bucketStart": "400毫秒", "bucketEnd": "700毫秒"}
              }
            }
          },
          "signpostMetrics": [
            {
              "signpostIntervalData": {
                "histogrammedSignpostDurations": {
                  "histogramNumBuckets": 3,
                  "histogramValue": {
                    "0": {"bucketCount": 50, "bucketStart": "0毫秒", "bucketEnd": "100毫秒"},
                    "1": {"bucketCount": 60, "bucketStart": "100毫秒", "bucketEnd": "400毫秒"},
                    "2": {"bucketCount": 30, "bucketStart": "400毫秒", "bucketEnd": "700毫秒"}
                  }
                },
                "signpostCumulativeCPUTime": "30,000毫秒",
                "signpostAverageMemory": "100,000千字节",
                "signpostCumulativeLogicalWrites": "600千字节"
              },
              "signpostCategory": "Uploads",
              "signpostName": "Compress",
              "totalSignpostCount": 30
            }
          ],
          "appVersion": "1.0",
          "timeStampBegin": "2019-10-22 06:59:00 +0000",
          "timeStampEnd": "2019-10-23 06:59:00 +0000",
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
}
