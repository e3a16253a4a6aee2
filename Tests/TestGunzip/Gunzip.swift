import CLoaderChainZlib
import Foundation
import LoaderChainGzip

/// What a gzip stream holds; nil if it is none, or ends too early, or has something behind it.
public func gunzipped(_ compressed: Data) -> Data? {
    var stream = loaderchain_zstream()
    guard loaderchain_inflate_init(&stream, Zlib.gzipWindow, loaderchain_zlib_version(), Zlib.streamSize) == Zlib.ok
    else { return nil }
    defer { _ = loaderchain_inflate_end(&stream) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var result = Data()
    return compressed.withUnsafeBytes { input -> Data? in
        stream.next_in = input.bindMemory(to: UInt8.self).baseAddress
        stream.avail_in = UInt32(input.count)
        while true {
            let status = buffer.withUnsafeMutableBufferPointer { buffer in
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(buffer.count)
                return loaderchain_inflate(&stream, Int32(loaderchain_z_no_flush))
            }
            result.append(contentsOf: buffer.prefix(buffer.count - Int(stream.avail_out)))
            if status == Zlib.streamEnd { return stream.avail_in == 0 ? result : nil }
            guard status == Zlib.ok else { return nil }
        }
    }
}
