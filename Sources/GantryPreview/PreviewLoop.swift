import CSDL2
import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// What the thread of the window does: waits for a picture, draws it at once, and looks at keys and figures in between. All of it
/// belongs to that thread.
final class PreviewLoop {
    enum Item: Sendable {
        case picture(VideoFrame)
        case noSignal
    }

    /// How long a key may wait while no picture comes. SDL can wait for keys or be woken, and both cost a way through the
    /// window system for each picture; this does not.
    private static let pause = MediaDuration.milliseconds(10)
    /// What is written over the picture is drawn so often.
    private static let refreshInterval = MediaDuration.milliseconds(100)

    private let window: SDLWindow
    private let state: PreviewState
    private let slot: LatestSlot<Item>
    private var levels: HeldLevels
    private var content = PreviewState.Content()
    private var seen = -1

    /// What is shown; nil: the card.
    private var current: VideoFrame?
    private var hasTakenSize = false
    private let picture = PictureTexture()
    private let card = PictureTexture()
    private var cardContent: (detail: String, width: Int, height: Int)?
    private var turns = 0
    private var showsStatistics = false
    private var showsHelp = false
    private var needsDrawing = true
    private var hasFailed = false

    private let statisticsPanel = PanelTexture(.topLeft)
    private let notesPanel = PanelTexture(.topRight)
    private let messagePanel = PanelTexture(.bottom)
    private let helpPanel = PanelTexture(.middle)
    private var notes: [String] = []
    private var message = ""
    private var panelScale = 0
    private var nextRefresh = MediaTimestamp(microseconds: 0)
    private var history = LatencyHistory()
    private var rates = PreviewRates()

    init(_ window: SDLWindow, state: PreviewState, slot: LatestSlot<Item>, meter: LevelMeter) {
        self.window = window
        self.state = state
        self.slot = slot
        levels = HeldLevels(meter)
    }

    /// Until the slot is closed.
    ///
    /// - Throws: `outputFailed` when the desktop has gone.
    func run() throws(GantryError) {
        while !slot.closed {
            if let item = slot.take(until: MonotonicClock.now() + Self.pause) { take(item) }
            while let happening = window.next() { handle(happening) }
            guard !window.isLost else {
                throw GantryError(
                    .outputFailed,
                    "The desktop that showed the preview has ended (the connection to its X server is lost). In a new one, or "
                        + "without --preview, start again.")
            }
            refresh(MonotonicClock.now())
            if needsDrawing { draw() }
        }
        // Before the renderer, which frees them with itself: what is let go of later would be freed again.
        removeTextures()
    }

    private func removeTextures() {
        for panel in [statisticsPanel, notesPanel, messagePanel, helpPanel] { panel.removeAll() }
        card.removeAll()
        picture.removeAll()
    }

    // MARK: Pictures

    private func take(_ item: Item) {
        switch item {
        case .noSignal:
            current = nil
            history.removeAll()
            window.allowScreenSaver(true)
            needsDrawing = true
        case .picture(let frame):
            if current == nil { window.allowScreenSaver(false) }
            if !hasTakenSize {
                hasTakenSize = true
                window.take(width: frame.width, height: frame.height)
            }
            current = frame
            fill(frame)
            draw()
            measure(frame)
        }
    }

    private func fill(_ frame: VideoFrame) {
        do throws(GantryError) {
            try picture.fill(frame, window)
            hasFailed = false
        } catch {
            // Once, not for each picture.
            if !hasFailed { Log.warning("preview: \(error)") }
            hasFailed = true
        }
    }

    private func measure(_ frame: VideoFrame) {
        let now = MonotonicClock.now()
        let isKnown = rates.figures.isCaptureKnown
        let start = isKnown ? frame.captureTime - frame.clockOffset : frame.arrivalTime
        state.shown(after: isKnown && !frame.isReplayed ? now - start : nil)
        guard !frame.isReplayed else { return }
        history.add(decoded: frame.decodedTime - start, shown: now - start)
    }

    private func draw() {
        needsDrawing = false
        guard window.isVisible else { return }
        SDL_SetRenderDrawColor(window.renderer, 0, 0, 0, 255)
        SDL_RenderClear(window.renderer)
        if current == nil {
            drawCard()
        } else {
            picture.draw(window, turns: turns)
        }
        let scale = max(1, panelScale)
        if showsStatistics { statisticsPanel.draw(window, scale: scale) }
        notesPanel.draw(window, scale: scale)
        messagePanel.draw(window, scale: scale)
        if showsHelp { helpPanel.draw(window, scale: scale) }
        SDL_RenderPresent(window.renderer)
    }

    /// "NO SIGNAL", and what is tried; drawn anew when that or the window's size changes.
    private func drawCard() {
        let size = window.size
        if cardContent?.detail != content.waiting || cardContent?.width != size.width
            || cardContent?.height != size.height || card.isEmpty
        {
            cardContent = (content.waiting, size.width, size.height)
            guard
                let drawing = Picture(
                    format: .i420, width: min(size.width, Picture.maximumSide),
                    height: min(size.height, Picture.maximumSide), color: .bt601)
            else { return }
            VirtualCameraCard(detail: content.waiting).draw(on: drawing)
            do throws(GantryError) {
                try card.fill(VideoFrame(drawing, frameRate: .fps30), window)
            } catch {
                Log.warning("preview: \(error)")
            }
        }
        card.draw(window, turns: 0)
    }

    // MARK: Keys

    private func handle(_ happening: SDLWindow.Happening) {
        needsDrawing = true
        switch happening {
        case .key(let key): press(key)
        case .doubleClick: press(.fullScreen)
        case .close: state.send(.close, nil)
        case .redraw: break
        case .texturesLost:
            removeTextures()
            panelScale = 0
            if let current { fill(current) }
        }
        // Its size may be another one.
        nextRefresh = MediaTimestamp(microseconds: 0)
    }

    private func press(_ key: PreviewKey) {
        switch key {
        case .command(let command): state.send(command, current)
        case .fullScreen: window.setFullScreen(!window.isFullScreen)
        case .rotate: turns = (turns + 1) % 4
        case .statistics: showsStatistics.toggle()
        case .help: showsHelp.toggle()
        case .escape:
            if window.isFullScreen { window.setFullScreen(false) } else { state.send(.close, nil) }
        }
    }

    // MARK: What is written over the picture

    private func refresh(_ now: MediaTimestamp) {
        if let new = state.content(newerThan: &seen) {
            content = new
            nextRefresh = now
            needsDrawing = needsDrawing || current == nil
        }
        guard now >= nextRefresh else { return }
        nextRefresh = now + Self.refreshInterval
        rates.sample(state.currentSession, at: now, producer: content.producer, notShown: slot.droppedCount)
        let size = window.size
        let scale = PanelStyle.scale(width: size.width, height: size.height)
        let isOtherScale = scale != panelScale
        panelScale = scale
        drawNotes(now, isOtherScale, width: size.width)
        drawMessage(now, isOtherScale, width: size.width)
        if showsHelp && (isOtherScale || helpPanel.isEmpty) {
            TextPanel.drawHelp(on: helpPanel.canvas, scale: scale)
            helpPanel.update(window)
        }
        if showsStatistics {
            StatisticsPanel.draw(
                rates.figures, &history, levels.read(at: now), on: statisticsPanel.canvas, scale: scale)
            statisticsPanel.update(window)
            needsDrawing = true
        }
        let title = PreviewNotes.title(content)
        if window.title != title { window.title = title }
    }

    private func drawNotes(_ now: MediaTimestamp, _ isOtherScale: Bool, width: Int) {
        let new = PreviewNotes.lines(content, state.currentSession, at: now)
        guard new.map(\.text) != notes || isOtherScale else { return }
        notes = new.map(\.text)
        needsDrawing = true
        guard !new.isEmpty else { return notesPanel.removeAll() }
        TextPanel.draw(new, on: notesPanel.canvas, scale: panelScale, width: width)
        notesPanel.update(window)
    }

    private func drawMessage(_ now: MediaTimestamp, _ isOtherScale: Bool, width: Int) {
        let new = content.message.flatMap { $0.until > now ? $0.text : nil } ?? ""
        guard new != message || isOtherScale else { return }
        message = new
        needsDrawing = true
        guard !new.isEmpty else { return messagePanel.removeAll() }
        TextPanel.draw(
            [(new, PanelStyle.bright)], on: messagePanel.canvas, scale: panelScale,
            width: width - 2 * PanelStyle.margin * panelScale)
        messagePanel.update(window)
    }
}
