extension Diagnostics {
    /// As iOS 26 writes it, with a section that nobody knows yet.
    static let ios26 = #"""
        {
          "timeStampBegin": "2025-10-10 11:54:00",
          "timeStampEnd": "2025-10-10 11:54:00",
          "crashDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(threads),
              "diagnosticMetaData": {
                \#(ios26MetaData),
                "exceptionType": 1,
                "exceptionCode": 0,
                "signal": 11,
                "terminationReason": "Namespace SIGNAL, Code 0xb",
                "virtualMemoryRegionInfo": "0 is not in any region.",
                "objectiveCexceptionReason": {
                  "className": "NSException",
                  "exceptionName": "NSRangeException",
                  "exceptionType": "NSException",
                  "composedMessage": "index 5 beyond bounds",
                  "formatString": "index %@ beyond bounds",
                  "arguments": ["5"]
                }
              }
            }
          ],
          "hangDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                \#(ios26MetaData),
                "hangDuration": "20 sec",
                "hangType": "Main Runloop Hang"
              }
            }
          ],
          "cpuExceptionDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                \#(ios26MetaData),
                "totalCPUTime": "20 sec",
                "totalSampledTime": "30 sec"
              }
            }
          ],
          "diskWriteExceptionDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                \#(ios26MetaData),
                "writesCaused": "2000 byte"
              }
            }
          ],
          "appLaunchDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                \#(ios26MetaData),
                "launchDuration": "12 sec"
              }
            }
          ],
          "memoryExceptionDiagnostics": [{"diagnosticMetaData": {"appVersion": "1.2", "limit": "2 GB"}}]
        }
        """#

    private static let ios26MetaData = #"""
        "appBuildVersion": "1",
        "osVersion": "iPhone OS 26.0 (23A341)",
        "regionFormat": "US",
        "deviceType": "iPhone18,1",
        "platformArchitecture": "arm64e",
        "bundleIdentifier": "com.example.app",
        "isTestFlightApp": false,
        "lowPowerModeEnabled": false,
        "pid": -1,
        "appVersion": "1.2"
        """#

    /// As a report of iOS 27 encodes itself.
    static let ios27 = #"""
        {
          "environment": {
            "applicationVersion": "1.2",
            "applicationBuildVersion": "345",
            "deviceType": "iPhone18,1",
            "regionFormat": "DE",
            "isTestFlightApp": false,
            "lowPowerModeEnabled": true,
            "platformArchitecture": "arm64e",
            "bundleIdentifier": "com.example.app",
            "osVersion": "iOS 27.0 (24A335)",
            "pid": -1
          },
          "result": {
            "hang": {"_0": {"hangDuration": {"value": 1.25, "unit": "s"}, "callStackTree": \#(together)}}
          },
          "timeRange": {"begin": 804556800, "end": 804556800}
        }
        """#
}
