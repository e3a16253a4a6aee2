/// Payloads of diagnostics, as systems write them.
enum Diagnostics {
    /// As iOS 14 writes it, set to Chinese.
    static let ios14 = #"""
        {
          "timeStampBegin": "2020-10-15 11:54:00 +0000",
          "timeStampEnd": "2020-10-15 11:54:00 +0000",
          "crashDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(threads),
              "diagnosticMetaData": {
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 14.0.1 (18A393)",
                "regionFormat": "CN",
                "deviceType": "iPhone12,1",
                "appVersion": "1.2",
                "exceptionType": 1,
                "exceptionCode": 0,
                "signal": 11,
                "terminationReason": "Namespace SIGNAL, Code 0xb",
                "virtualMemoryRegionInfo": "0 is not in any region."
              }
            }
          ],
          "hangDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 14.0.1 (18A393)",
                "regionFormat": "CN",
                "deviceType": "iPhone12,1",
                "appVersion": "1.2",
                "hangDuration": "20秒"
              }
            }
          ],
          "cpuExceptionDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 14.0.1 (18A393)",
                "regionFormat": "CN",
                "deviceType": "iPhone12,1",
                "appVersion": "1.2",
                "totalCPUTime": "20秒",
                "totalSampledTime": "30秒"
              }
            }
          ],
          "diskWriteExceptionDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 14.0.1 (18A393)",
                "regionFormat": "CN",
                "deviceType": "iPhone12,1",
                "appVersion": "1.2",
                "writesCaused": "2,000字节"
              }
            }
          ]
        }
        """#

    /// As iOS 16 writes it.
    static let ios16 = #"""
        {
          "timeStampBegin": "2022-12-20 11:54:00",
          "timeStampEnd": "2022-12-20 11:54:00",
          "crashDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(threads),
              "diagnosticMetaData": {
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 16.2 (20C65)",
                "regionFormat": "US",
                "deviceType": "iPhone14,5",
                "platformArchitecture": "arm64e",
                "appVersion": "1.2",
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
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 16.2 (20C65)",
                "regionFormat": "US",
                "deviceType": "iPhone14,5",
                "platformArchitecture": "arm64e",
                "appVersion": "1.2",
                "hangDuration": "20 sec"
              }
            }
          ],
          "cpuExceptionDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 16.2 (20C65)",
                "regionFormat": "US",
                "deviceType": "iPhone14,5",
                "platformArchitecture": "arm64e",
                "appVersion": "1.2",
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
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 16.2 (20C65)",
                "regionFormat": "US",
                "deviceType": "iPhone14,5",
                "platformArchitecture": "arm64e",
                "appVersion": "1.2",
                "writesCaused": "2000 byte"
              }
            }
          ],
          "appLaunchDiagnostics": [
            {
              "version": "1.0.0",
              "callStackTree": \#(together),
              "diagnosticMetaData": {
                "appBuildVersion": "1",
                "osVersion": "iPhone OS 16.2 (20C65)",
                "regionFormat": "US",
                "deviceType": "iPhone14,5",
                "platformArchitecture": "arm64e",
                "appVersion": "1.2",
                "launchDuration": "12 sec"
              }
            }
          ]
        }
        """#
}
