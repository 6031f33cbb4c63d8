import CSDL2

/// A panel over the picture: drawn by the processor when what it says changes, laid over each picture by the renderer. Belongs
/// to the thread of the window.
final class PanelTexture {
    /// Where it lies in the window.
    enum Place {
        case topLeft, topRight, bottom, middle
    }

    let canvas = Canvas()
    private let place: Place
    private var texture: OpaquePointer?
    private var width = 0
    private var height = 0

    init(_ place: Place) { self.place = place }

    /// To be called before the window goes.
    func removeAll() {
        if let texture { SDL_DestroyTexture(texture) }
        texture = nil
    }

    var isEmpty: Bool { texture == nil }

    /// Takes over what is drawn on `canvas`.
    func update(_ window: SDLWindow) {
        if texture == nil || width != canvas.width || height != canvas.height {
            removeAll()
            (width, height) = (canvas.width, canvas.height)
            texture = SDL_CreateTexture(
                window.renderer, UInt32(SDL_PIXELFORMAT_ARGB8888.rawValue),
                Int32(SDL_TEXTUREACCESS_STREAMING.rawValue), Int32(width), Int32(height))
            SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND)
        }
        SDL_UpdateTexture(texture, nil, canvas.pixels.baseAddress, Int32(width * MemoryLayout<Canvas.Color>.stride))
    }

    func draw(_ window: SDLWindow, scale: Int) {
        guard let texture else { return }
        let (outerWidth, outerHeight) = window.size
        let edge = PanelStyle.margin * scale
        let (x, y) =
            switch place {
            case .topLeft: (edge, edge)
            case .topRight: (outerWidth - width - edge, edge)
            case .bottom: ((outerWidth - width) / 2, outerHeight - height - 2 * edge)
            case .middle: ((outerWidth - width) / 2, (outerHeight - height) / 2)
            }
        var area = SDL_Rect(x: Int32(x), y: Int32(y), w: Int32(width), h: Int32(height))
        SDL_RenderCopy(window.renderer, texture, nil, &area)
    }
}
