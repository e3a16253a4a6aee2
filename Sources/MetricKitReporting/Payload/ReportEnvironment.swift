struct ReportEnvironment {
    var metaData: PayloadMetaData
    var appVersion: String?
    var includesMultipleAppVersions: Bool

    init(_ reader: inout SectionReader) {
        metaData = PayloadMetaData(&reader)
        appVersion = reader.text("latestApplicationVersion", "applicationVersion", "appVersion")
        includesMultipleAppVersions = MetricPayload.spansVersions(&reader)
    }
}

extension MetricPayload {
    mutating func take(_ environment: ReportEnvironment) {
        metaData = metaData ?? environment.metaData
        appVersion = appVersion ?? environment.appVersion
        includesMultipleAppVersions = includesMultipleAppVersions || environment.includesMultipleAppVersions
    }
}
