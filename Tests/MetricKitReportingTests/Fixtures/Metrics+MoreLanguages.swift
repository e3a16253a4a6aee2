extension Metrics {
    /// As iOS 14 writes it, set to Russian: spaces that do not break between thousands, and a decimal comma.
    static let ios14Russian = #"""
        {
          "locationActivityMetrics": {
            "cumulativeBestAccuracyForNavigationTime": "20 сек.",
            "cumulativeBestAccuracyTime": "30 сек.",
            "cumulativeHundredMetersAccuracyTime": "30 сек.",
            "cumulativeNearestTenMetersAccuracyTime": "30 сек.",
            "cumulativeKilometerAccuracyTime": "20 сек.",
            "cumulativeThreeKilometersAccuracyTime": "20 сек."
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
            "regionFormat": "RU",
            "deviceType": "iPhone12,1"
          },
          "gpuMetrics": {"cumulativeGPUTime": "20 сек."},
          "memoryMetrics": {
            "peakMemoryUsage": "200\#u{A0}000 кБ",
            "averageSuspendedMemory": {"averageValue": "100\#u{A0}000 кБ", "standardDeviation": 0, "sampleCount": 500}
          },
          "displayMetrics": {
            "averagePixelLuminance": {"averageValue": "50 apl", "standardDeviation": 0, "sampleCount": 500}
          },
          "cpuMetrics": {"cumulativeCPUTime": "100 сек."},
          "networkTransferMetrics": {
            "cumulativeCellularDownload": "80\#u{A0}000 кБ",
            "cumulativeWifiDownload": "60\#u{A0}000 кБ",
            "cumulativeCellularUpload": "70\#u{A0}000 кБ",
            "cumulativeWifiUpload": "50\#u{A0}000 кБ"
          },
          "diskIOMetrics": {"cumulativeLogicalWrites": "1\#u{A0}300 кБ"},
          "applicationLaunchMetrics": {
            "histogrammedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "1\#u{A0}000 мс", "bucketEnd": "1\#u{A0}010 мс"},
                "1": {"bucketCount": 60, "bucketStart": "2\#u{A0}000 мс", "bucketEnd": "2\#u{A0}010 мс"},
                "2": {"bucketCount": 30, "bucketStart": "3\#u{A0}000 мс", "bucketEnd": "3\#u{A0}010 мс"}
              }
            },
            "histogrammedResumeTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 60, "bucketStart": "200 мс", "bucketEnd": "210 мс"},
                "1": {"bucketCount": 70, "bucketStart": "300 мс", "bucketEnd": "310 мс"},
                "2": {"bucketCount": 80, "bucketStart": "500 мс", "bucketEnd": "510 мс"}
              }
            }
          },
          "applicationTimeMetrics": {
            "cumulativeForegroundTime": "700 сек.",
            "cumulativeBackgroundTime": "40 сек.",
            "cumulativeBackgroundAudioTime": "30 сек.",
            "cumulativeBackgroundLocationTime": "30 сек."
          },
          "applicationResponsivenessMetrics": {
            "histogrammedAppHangTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "0 мс", "bucketEnd": "100 мс"},
                "1": {"bucketCount": 60, "bucketStart": "100 мс", "bucketEnd": "400 мс"},
                "2": {"bucketCount": 30, "bucketStart": "400 мс", "bucketEnd": "700 мс"}
              }
            }
          },
          "signpostMetrics": [
            {
              "signpostIntervalData": {
                "histogrammedSignpostDurations": {
                  "histogramNumBuckets": 3,
                  "histogramValue": {
                    "0": {"bucketCount": 50, "bucketStart": "0 мс", "bucketEnd": "100 мс"},
                    "1": {"bucketCount": 60, "bucketStart": "100 мс", "bucketEnd": "400 мс"},
                    "2": {"bucketCount": 30, "bucketStart": "400 мс", "bucketEnd": "700 мс"}
                  }
                },
                "signpostCumulativeCPUTime": "30\#u{A0}000 мс",
                "signpostAverageMemory": "100\#u{A0}000 кБ",
                "signpostCumulativeLogicalWrites": "600 кБ"
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
          "animationMetrics": {"scrollHitchTimeRatio": "12,5 ms per s"}
        }
        """#

    /// As iOS 14 writes it, set to Arabic with its own digits.
    static let ios14Arabic = #"""
        {
          "locationActivityMetrics": {
            "cumulativeBestAccuracyForNavigationTime": "٢٠ ث",
            "cumulativeBestAccuracyTime": "٣٠ ث",
            "cumulativeHundredMetersAccuracyTime": "٣٠ ث",
            "cumulativeNearestTenMetersAccuracyTime": "٣٠ ث",
            "cumulativeKilometerAccuracyTime": "٢٠ ث",
            "cumulativeThreeKilometersAccuracyTime": "٢٠ ث"
          },
          "cellularConditionMetrics": {
            "cellConditionTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 20, "bucketStart": "١ bars", "bucketEnd": "١ bars"},
                "1": {"bucketCount": 30, "bucketStart": "٢ bars", "bucketEnd": "٢ bars"},
                "2": {"bucketCount": 50, "bucketStart": "٣ bars", "bucketEnd": "٣ bars"}
              }
            }
          },
          "metaData": {
            "appBuildVersion": "1",
            "osVersion": "iPhone OS 14.0.1 (18A393)",
            "regionFormat": "EG",
            "deviceType": "iPhone12,1"
          },
          "gpuMetrics": {"cumulativeGPUTime": "٢٠ ث"},
          "memoryMetrics": {
            "peakMemoryUsage": "٢٠٠٬٠٠٠ kB",
            "averageSuspendedMemory": {"averageValue": "١٠٠٬٠٠٠ kB", "standardDeviation": 0, "sampleCount": 500}
          },
          "displayMetrics": {
            "averagePixelLuminance": {"averageValue": "٥٠ apl", "standardDeviation": 0, "sampleCount": 500}
          },
          "cpuMetrics": {"cumulativeCPUTime": "١٠٠ ث"},
          "networkTransferMetrics": {
            "cumulativeCellularDownload": "٨٠٬٠٠٠ kB",
            "cumulativeWifiDownload": "٦٠٬٠٠٠ kB",
            "cumulativeCellularUpload": "٧٠٬٠٠٠ kB",
            "cumulativeWifiUpload": "٥٠٬٠٠٠ kB"
          },
          "diskIOMetrics": {"cumulativeLogicalWrites": "١٬٣٠٠ kB"},
          "applicationLaunchMetrics": {
            "histogrammedTimeToFirstDrawKey": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "١٬٠٠٠ \#u{200F}ملي ث", "bucketEnd": "١٬٠١٠ \#u{200F}ملي ث"},
                "1": {"bucketCount": 60, "bucketStart": "٢٬٠٠٠ \#u{200F}ملي ث", "bucketEnd": "٢٬٠١٠ \#u{200F}ملي ث"},
                "2": {"bucketCount": 30, "bucketStart": "٣٬٠٠٠ \#u{200F}ملي ث", "bucketEnd": "٣٬٠١٠ \#u{200F}ملي ث"}
              }
            },
            "histogrammedResumeTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 60, "bucketStart": "٢٠٠ \#u{200F}ملي ث", "bucketEnd": "٢١٠ \#u{200F}ملي ث"},
                "1": {"bucketCount": 70, "bucketStart": "٣٠٠ \#u{200F}ملي ث", "bucketEnd": "٣١٠ \#u{200F}ملي ث"},
                "2": {"bucketCount": 80, "bucketStart": "٥٠٠ \#u{200F}ملي ث", "bucketEnd": "٥١٠ \#u{200F}ملي ث"}
              }
            }
          },
          "applicationTimeMetrics": {
            "cumulativeForegroundTime": "٧٠٠ ث",
            "cumulativeBackgroundTime": "٤٠ ث",
            "cumulativeBackgroundAudioTime": "٣٠ ث",
            "cumulativeBackgroundLocationTime": "٣٠ ث"
          },
          "applicationResponsivenessMetrics": {
            "histogrammedAppHangTime": {
              "histogramNumBuckets": 3,
              "histogramValue": {
                "0": {"bucketCount": 50, "bucketStart": "٠ \#u{200F}ملي ث", "bucketEnd": "١٠٠ \#u{200F}ملي ث"},
                "1": {"bucketCount": 60, "bucketStart": "١٠٠ \#u{200F}ملي ث", "bucketEnd": "٤٠٠ \#u{200F}ملي ث"},
                "2": {"bucketCount": 30, "bucketStart": "٤٠٠ \#u{200F}ملي ث", "bucketEnd": "٧٠٠ \#u{200F}ملي ث"}
              }
            }
          },
          "signpostMetrics": [
            {
              "signpostIntervalData": {
                "histogrammedSignpostDurations": {
                  "histogramNumBuckets": 3,
                  "histogramValue": {
                    "0": {"bucketCount": 50, "bucketStart": "٠ \#u{200F}ملي ث", "bucketEnd": "١٠٠ \#u{200F}ملي ث"},
                    "1": {"bucketCount": 60, "bucketStart": "١٠٠ \#u{200F}ملي ث", "bucketEnd": "٤٠٠ \#u{200F}ملي ث"},
                    "2": {"bucketCount": 30, "bucketStart": "٤٠٠ \#u{200F}ملي ث", "bucketEnd": "٧٠٠ \#u{200F}ملي ث"}
                  }
                },
                "signpostCumulativeCPUTime": "٣٠٬٠٠٠ \#u{200F}ملي ث",
                "signpostAverageMemory": "١٠٠٬٠٠٠ kB",
                "signpostCumulativeLogicalWrites": "٦٠٠ kB"
              },
              "signpostCategory": "Uploads",
              "signpostName": "Compress",
              "totalSignpostCount": 30
            }
          ],
          "appVersion": "1.0",
          "timeStampBegin": "٢٠٢٠-١٠-١٠ ٠٤:٠٠:٠٠ +0000",
          "timeStampEnd": "٢٠٢٠-١٠-١١ ٠٤:٠٠:٠٠ +0000",
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
          "animationMetrics": {"scrollHitchTimeRatio": "١٢٫٥ ms per s"}
        }
        """#
}
