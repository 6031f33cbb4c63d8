package import GantryCore

/// A screen that can be sent.
package struct ScreenInfo: Sendable {
    /// As the X library takes it: `:0`.
    package var display: String
    package var width: Int
    package var height: Int
    /// Why it cannot be sent; nil when it can. The size is 0 by 0 then.
    package var problem: GantryError?

    package init(display: String, width: Int = 0, height: Int = 0, problem: GantryError? = nil) {
        self.display = display
        self.width = width
        self.height = height
        self.problem = problem
    }
}

/// The screens of this session.
package enum ScreenList {
    /// That of `DISPLAY`, which is the only one that a session knows of; none without it. Opens it for a moment.
    ///
    /// - Parameter variable: reads the environment.
    /// - Throws: `sourceNotFound`: why there is none.
    package static func own(variable: (String) -> String?) throws(GantryError) -> ScreenInfo {
        let place = try ScreenPlace("screen", variable: variable)
        do throws(GantryError) {
            let grab = try ScreenGrab(place)
            return ScreenInfo(display: place.display, width: grab.width, height: grab.height)
        } catch {
            return ScreenInfo(display: place.display, problem: error)
        }
    }
}
