extension Metrics {
    /// As a report of iOS 27 encodes itself.
    static let ios27 = #"""
        {
          "environment": {
            "latestApplicationVersion": "1.2",
            "applicationBuildVersion": "345",
            "deviceType": "iPhone18,1",
            "regionFormat": "DE",
            "isTestFlightApp": false,
            "lowPowerModeEnabled": true,
            "platformArchitecture": "arm64e",
            "bundleIdentifier": "com.example.app",
            "osVersion": "iOS 27.0 (24A335)",
            "includesMultipleApplicationVersions": false,
            "hasExceededStateLimit": false
          },
          "timeRange": {"begin": 804556800, "end": 804643200},
          "stateEntries": [],
          "intervalEntries": [
            {
              "states": [],
              "duration": {"value": 3600, "unit": "s"},
              "values": [
                {
                  "hangTime": {
                    "_0": {
                      "histogram": {
                        "buckets": [
                          {
                            "lowerBound": {"value": 0, "unit": "ms"},
                            "upperBound": {"value": 100, "unit": "ms"},
                            "count": 50
                          },
                          {
                            "lowerBound": {"value": 100, "unit": "ms"},
                            "upperBound": {"value": 400, "unit": "ms"},
                            "count": 60
                          },
                          {
                            "lowerBound": {"value": 400, "unit": "ms"},
                            "upperBound": {"value": 700, "unit": "ms"},
                            "count": 30
                          }
                        ]
                      }
                    }
                  }
                }
              ]
            },
            {
              "states": [],
              "duration": {"value": 86400, "unit": "s"},
              "values": [
                {
                  "timeToFirstDraw": {
                    "_0": {
                      "histogram": {
                        "buckets": [
                          {
                            "lowerBound": {"value": 1000, "unit": "ms"},
                            "upperBound": {"value": 1010, "unit": "ms"},
                            "count": 50
                          },
                          {
                            "lowerBound": {"value": 2000, "unit": "ms"},
                            "upperBound": {"value": 2010, "unit": "ms"},
                            "count": 60
                          },
                          {
                            "lowerBound": {"value": 3000, "unit": "ms"},
                            "upperBound": {"value": 3010, "unit": "ms"},
                            "count": 30
                          }
                        ]
                      }
                    }
                  }
                },
                {
                  "hangTime": {
                    "_0": {
                      "histogram": {
                        "buckets": [
                          {
                            "lowerBound": {"value": 0, "unit": "ms"},
                            "upperBound": {"value": 100, "unit": "ms"},
                            "count": 50
                          },
                          {
                            "lowerBound": {"value": 100, "unit": "ms"},
                            "upperBound": {"value": 400, "unit": "ms"},
                            "count": 60
                          },
                          {
                            "lowerBound": {"value": 400, "unit": "ms"},
                            "upperBound": {"value": 700, "unit": "ms"},
                            "count": 30
                          }
                        ]
                      }
                    }
                  }
                },
                {
                  "applicationResumeTime": {
                    "_0": {
                      "histogram": {
                        "buckets": [
                          {
                            "lowerBound": {"value": 200, "unit": "ms"},
                            "upperBound": {"value": 210, "unit": "ms"},
                            "count": 60
                          },
                          {
                            "lowerBound": {"value": 300, "unit": "ms"},
                            "upperBound": {"value": 310, "unit": "ms"},
                            "count": 70
                          },
                          {
                            "lowerBound": {"value": 500, "unit": "ms"},
                            "upperBound": {"value": 510, "unit": "ms"},
                            "count": 80
                          }
                        ]
                      }
                    }
                  }
                },
                {"cpuTime": {"_0": {"cpuTime": {"value": 100, "unit": "s"}}}},
                {"foregroundTime": {"_0": {"foregroundTime": {"value": 700, "unit": "s"}}}},
                {"peakMemory": {"_0": {"peakMemory": {"value": 200000, "unit": "kB"}}}},
                {"totalWiFiUpload": {"_0": {"totalWiFiUpload": {"value": 50000, "unit": "kB"}}}},
                {"metalFrameRate": {"_0": {"layerName": "main", "framesPerSecond": {"value": 59.5, "unit": "Hz"}}}}
              ]
            }
          ]
        }
        """#

    /// The values of iOS 27 in the sections of before.
    static let ios27Sections = #"""
        {
          "appVersion": "1.2",
          "timeRange": {"begin": 804556800.5, "end": 804643200.5},
          "metaData": {"deviceType": "iPhone18,1"},
          "applicationLaunchMetrics": {
            "timeToFirstDraw": {
              "histogram": {
                "buckets": [
                  {
                    "lowerBound": {"value": 1000, "unit": "ms"},
                    "upperBound": {"value": 1010, "unit": "ms"},
                    "count": 50
                  },
                  {
                    "lowerBound": {"value": 2000, "unit": "ms"},
                    "upperBound": {"value": 2010, "unit": "ms"},
                    "count": 60
                  },
                  {
                    "lowerBound": {"value": 3000, "unit": "ms"},
                    "upperBound": {"value": 3010, "unit": "ms"},
                    "count": 30
                  }
                ]
              }
            }
          },
          "applicationResponsivenessMetrics": {
            "hangTime": {
              "histogram": {
                "buckets": [
                  {"lowerBound": {"value": 0, "unit": "ms"}, "upperBound": {"value": 100, "unit": "ms"}, "count": 50},
                  {"lowerBound": {"value": 100, "unit": "ms"}, "upperBound": {"value": 400, "unit": "ms"}, "count": 60},
                  {"lowerBound": {"value": 400, "unit": "ms"}, "upperBound": {"value": 700, "unit": "ms"}, "count": 30}
                ]
              }
            }
          },
          "applicationTimeMetrics": {"cumulativeForegroundTime": {"value": 700, "unit": "s"}},
          "memoryMetrics": {"peakMemoryUsage": {"value": 200000, "unit": "kB"}}
        }
        """#
}
