import CSDL2
import GantryCore
import GantryPlatform
import Synchronization

/// SDL's window and renderer. Made, used and let go by one thread.
///
/// Presents at once, without waiting for the screen (no vertical sync). Never takes the keyboard away from others.
final class SDLWindow {
    /// What has happened, as far as the preview cares.
    enum Happening: Equatable {
        case key(PreviewKey)
        case doubleClick
        case close
        /// What was drawn is gone, or the window has another size.
        case redraw
        /// Textures are gone.
        case texturesLost
    }

    private let window: OpaquePointer
    let renderer: OpaquePointer
    /// Whether the graphics card turns YUV into RGB.
    let takesYUV: Bool
    /// Set by Xlib, on this thread. Stays for good when it is set.
    private let loss = UnsafeMutablePointer<Bool>.allocate(capacity: 1)

    /// SDL has one set of events for the process.
    private static let isOpen = Atomic<Bool>(false)

    /// - Throws: `busy`, `outputNotFound` without a display, `outputFailed`.
    init(title: String) throws(GantryError) {
        guard Self.isOpen.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { throw GantryError(.busy, "A program has one preview at a time. Close the other one first.") }
        do throws(GantryError) {
            try Self.begin()
            let size = Self.firstSize
            let flags =
                SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue | SDL_WINDOW_HIDDEN.rawValue
            guard
                let window = SDL_CreateWindow(
                    title, CSDL2_WINDOWPOS_CENTERED, CSDL2_WINDOWPOS_CENTERED, size.width, size.height, flags)
            else { throw Self.failure("The window could not be opened.") }
            guard let renderer = Self.makeRenderer(window) else {
                SDL_DestroyWindow(window)
                throw Self.failure("Nothing can be drawn in a window here.")
            }
            self.window = window
            self.renderer = renderer
            takesYUV = Self.takesYUV(renderer)
        } catch {
            loss.deallocate()
            Self.end()
            throw error
        }
        loss.initialize(to: false)
        CSDL2_outlive_x11(window, { _, data in data?.assumingMemoryBound(to: Bool.self).pointee = true }, loss)
        SDL_ShowWindow(window)
    }

    deinit {
        // Without its server SDL is left as it is: there will be no other window.
        guard !isLost else { return CSDL2_leave_x11_alone() }
        SDL_DestroyRenderer(renderer)
        SDL_DestroyWindow(window)
        Self.end()
        loss.deallocate()
    }

    /// The X server has gone. Nothing more may be drawn.
    var isLost: Bool { loss.pointee }

    private static func begin() throws(GantryError) {
        // Ctrl-C is the tool's.
        SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
        SDL_SetHint(SDL_HINT_APP_NAME, "Gantry")
        SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0")
        SDL_SetHint(SDL_HINT_VIDEO_MINIMIZE_ON_FOCUS_LOSS, "0")
        SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear")
        SDL_SetMainReady()
        guard SDL_Init(SDL_INIT_VIDEO) == 0 else { throw noDisplay(text) }
        // Where nothing else works SDL draws into memory, which nobody sees; that is for whoever asks for it.
        let driver = SDL_GetCurrentVideoDriver().map { String(cString: $0) } ?? ""
        guard !["dummy", "offscreen", "evdev"].contains(driver) || SDL_getenv("SDL_VIDEODRIVER") != nil else {
            throw noDisplay("SDL would draw into memory")
        }
        // Input methods would keep keys back.
        SDL_StopTextInput()
    }

    private static func noDisplay(_ cause: String) -> GantryError {
        GantryError(
            .outputNotFound,
            "No window can be opened: there is no display, or it may not be used. Run this in a terminal of the desktop, or "
                + "say which display, as in: DISPLAY=:0 gantry-studio receive --preview. From another machine: ssh -X",
            cause: cause)
    }

    private static func end() {
        SDL_Quit()
        isOpen.store(false, ordering: .releasing)
    }

    /// The first renderer that the system offers, or SDL's own drawing where that would be the processor as well.
    private static func makeRenderer(_ window: OpaquePointer) -> OpaquePointer? {
        let software = SDL_RENDERER_SOFTWARE.rawValue
        guard SDL_GetHint(SDL_HINT_RENDER_DRIVER) == nil else { return SDL_CreateRenderer(window, -1, 0) }
        guard let first = SDL_CreateRenderer(window, -1, SDL_RENDERER_ACCELERATED.rawValue) else {
            return SDL_CreateRenderer(window, -1, software)
        }
        guard information(first).map({ String(cString: $0.name).hasPrefix("opengl") }) == true,
            CSDL2_opengl_is_software() != 0
        else { return first }
        SDL_DestroyRenderer(first)
        // It would show by way of OpenGL what it has drawn.
        SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0")
        return SDL_CreateRenderer(window, -1, software)
    }

    private static func information(_ renderer: OpaquePointer) -> SDL_RendererInfo? {
        var information = SDL_RendererInfo()
        return SDL_GetRendererInfo(renderer, &information) == 0 ? information : nil
    }

    private static func takesYUV(_ renderer: OpaquePointer) -> Bool {
        guard var information = information(renderer) else { return false }
        let count = Int(min(16, information.num_texture_formats))
        return withUnsafeBytes(of: &information.texture_formats) {
            $0.bindMemory(to: UInt32.self).prefix(count).contains(UInt32(SDL_PIXELFORMAT_IYUV.rawValue))
        }
    }

    static var text: String { String(cString: SDL_GetError()) }

    static func failure(_ what: String) -> GantryError {
        GantryError(
            .outputFailed, "\(what) Another way of drawing may do: SDL_RENDER_DRIVER=software", cause: text)
    }

    // MARK: Size

    /// 1280x720, or what the screen has room for. In SDL's units, which are larger than pixels on some screens.
    private static var firstSize: (width: Int32, height: Int32) { fitted(1280, 720) }

    private static func fitted(_ width: Int32, _ height: Int32) -> (width: Int32, height: Int32) {
        var room = SDL_Rect()
        guard SDL_GetDisplayUsableBounds(0, &room) == 0, room.w > 0, room.h > 0 else { return (width, height) }
        // A frame needs some room as well.
        let share = min(1, Double(room.w) * 0.95 / Double(width), Double(room.h) * 0.9 / Double(height))
        return (max(64, Int32(Double(width) * share)), max(36, Int32(Double(height) * share)))
    }

    /// Takes the size of a picture, as far as the screen has room. Not while it fills the screen.
    func take(width: Int, height: Int) {
        guard !isFullScreen, SDL_GetWindowFlags(window) & SDL_WINDOW_MAXIMIZED.rawValue == 0 else { return }
        let size = Self.fitted(Int32(clamping: width), Int32(clamping: height))
        SDL_SetWindowSize(window, size.width, size.height)
    }

    /// In pixels; 1 and more.
    var size: (width: Int, height: Int) {
        var (width, height): (Int32, Int32) = (0, 0)
        SDL_GetRendererOutputSize(renderer, &width, &height)
        return (max(1, Int(width)), max(1, Int(height)))
    }

    var isFullScreen: Bool {
        SDL_GetWindowFlags(window) & SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue == SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue
    }

    /// Of the whole screen, or not; the pointer is hidden there.
    func setFullScreen(_ isFullScreen: Bool) {
        SDL_SetWindowFullscreen(window, isFullScreen ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0)
        SDL_ShowCursor(isFullScreen ? SDL_DISABLE : SDL_ENABLE)
    }

    /// Whether anybody can see it.
    var isVisible: Bool {
        SDL_GetWindowFlags(window) & (SDL_WINDOW_MINIMIZED.rawValue | SDL_WINDOW_HIDDEN.rawValue) == 0
    }

    var title: String {
        get { String(cString: SDL_GetWindowTitle(window)) }
        set { SDL_SetWindowTitle(window, newValue) }
    }

    /// Lets the screen go dark by itself, or keeps it awake.
    func allowScreenSaver(_ isAllowed: Bool) {
        if isAllowed { SDL_EnableScreenSaver() } else { SDL_DisableScreenSaver() }
    }

    // MARK: Events

    /// Takes the next thing that has happened. Does not wait.
    func next() -> Happening? {
        var event = SDL_Event()
        while SDL_PollEvent(&event) != 0 {
            if let happening = Self.happening(event) { return happening }
        }
        return nil
    }

    private static func happening(_ event: SDL_Event) -> Happening? {
        switch SDL_EventType(event.type) {
        case SDL_QUIT: return .close
        case SDL_KEYDOWN:
            let key = event.key
            return PreviewKey(
                symbol: key.keysym.sym, modifiers: key.keysym.mod, isRepeated: key.repeat != 0
            ).map { .key($0) }
        case SDL_MOUSEBUTTONDOWN:
            return Int32(event.button.button) == SDL_BUTTON_LEFT && event.button.clicks == 2 ? .doubleClick : nil
        case SDL_RENDER_TARGETS_RESET, SDL_RENDER_DEVICE_RESET: return .texturesLost
        case SDL_WINDOWEVENT:
            switch SDL_WindowEventID(UInt32(event.window.event)) {
            case SDL_WINDOWEVENT_EXPOSED, SDL_WINDOWEVENT_SIZE_CHANGED, SDL_WINDOWEVENT_RESTORED,
                SDL_WINDOWEVENT_SHOWN:
                return .redraw
            default: return nil
            }
        default: return nil
        }
    }
}
