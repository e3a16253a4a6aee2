extension Diagnostics {
    /// Call stacks of threads.
    static let threads = #"""
        {
          "callStackPerThread": true,
          "callStacks": [
            {
              "threadAttributed": false,
              "callStackRootFrames": [
                {
                  "binaryUUID": "70B89F27-1634-3580-A695-57CDB41D7743",
                  "offsetIntoBinaryTextSegment": 300,
                  "sampleCount": 1,
                  "binaryName": "Example",
                  "address": 4295000300,
                  "subFrames": [
                    {
                      "binaryUUID": "77A62F2E-8212-30F3-84C1-E8497440ACF8",
                      "offsetIntoBinaryTextSegment": 307,
                      "sampleCount": 1,
                      "binaryName": "libexample.dylib",
                      "address": 4295000307
                    }
                  ]
                }
              ]
            },
            {
              "threadAttributed": true,
              "callStackRootFrames": [
                {
                  "binaryUUID": "70B89F27-1634-3580-A695-57CDB41D7743",
                  "offsetIntoBinaryTextSegment": 165304,
                  "sampleCount": 20,
                  "binaryName": "Example",
                  "address": 4295165304,
                  "subFrames": [
                    {
                      "binaryUUID": "77A62F2E-8212-30F3-84C1-E8497440ACF8",
                      "offsetIntoBinaryTextSegment": 165311,
                      "sampleCount": 20,
                      "binaryName": "libexample.dylib",
                      "address": 4295165311,
                      "subFrames": [
                        {
                          "binaryUUID": "77A62F2E-8212-30F3-84C1-E8497440ACF8",
                          "offsetIntoBinaryTextSegment": 165318,
                          "sampleCount": 20,
                          "binaryName": "libexample.dylib",
                          "address": 4295165318,
                          "subFrames": [
                            {
                              "binaryUUID": "77A62F2E-8212-30F3-84C1-E8497440ACF8",
                              "offsetIntoBinaryTextSegment": 165325,
                              "sampleCount": 20,
                              "binaryName": "libexample.dylib",
                              "address": 4295165325
                            }
                          ]
                        }
                      ]
                    }
                  ]
                },
                {
                  "binaryUUID": "70B89F27-1634-3580-A695-57CDB41D7743",
                  "offsetIntoBinaryTextSegment": 500,
                  "sampleCount": 1,
                  "binaryName": "Example",
                  "address": 4295000500
                }
              ]
            }
          ]
        }
        """#

    /// Call stacks of all threads together.
    static let together = threads.replacing(#""callStackPerThread": true"#, with: #""callStackPerThread": false"#)
}
