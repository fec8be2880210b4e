struct PackageResources {
    static let page_html: [UInt8] = []
    static let style_css: [UInt8] = []
    static let script_js: [UInt8] = []
    static let live_js: [UInt8] = []
}
