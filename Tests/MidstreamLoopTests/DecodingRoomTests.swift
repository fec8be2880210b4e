#if os(Linux)
    import Testing

    @testable import MidstreamLoop

    /// Which bodies are decoded in a turn, and which have to wait for the next.
    @Suite struct DecodingRoomTests {
        private final class Body {}
        private static let turn = 1 << 20

        private let room = DecodingRoom()
        private let large = Body()
        private let small = Body()
        private let other = Body()
        private let late = Body()

        /// Lets a body use up the turn.
        private func useUp() { room.work = Self.turn }

        @Test func `As long as there is time whoever comes is admitted`() {
            room.beginTurn()
            for body in [large, small, large] { #expect(room.admits(body)) }
            room.work = Self.turn - 1
            #expect(!room.isUsedUp)
            #expect(room.admits(small))
            useUp()
            #expect(room.isUsedUp)
            #expect(!room.admits(small) && !room.admits(large))
        }

        /// A large body is the first to go on in each turn, and would use it up again.
        @Test func `Who came in vain goes before all others in the next turn`() {
            room.beginTurn()
            #expect(room.admits(large))
            useUp()
            #expect(!room.admits(small) && !room.admits(other))

            room.beginTurn()
            #expect(!room.isUsedUp)
            #expect(!room.admits(large), "There is time, but it is kept for those that had none.")
            #expect(room.admits(small))
            #expect(!room.admits(large), "One of them hasn't come yet.")
            #expect(room.admits(other))
            #expect(room.admits(late), "All of them have come.")
        }

        @Test func `Who had to wait for them isn't forgotten either`() {
            room.beginTurn()
            useUp()
            #expect(!room.admits(small))
            room.beginTurn()
            #expect(!room.admits(large))
            #expect(room.admits(small))
            useUp()
            #expect(!room.admits(late))
            // Both had none in the last turn; the small one had.
            room.beginTurn()
            #expect(!room.admits(small))
            #expect(room.admits(late) && room.admits(large))
            #expect(room.admits(small))
        }

        @Test func `Whose turn is used up by others that were first comes first again`() {
            room.beginTurn()
            useUp()
            #expect(!room.admits(small) && !room.admits(other))
            room.beginTurn()
            #expect(room.admits(small))
            useUp()
            #expect(!room.admits(other))
            room.beginTurn()
            #expect(!room.admits(small))
            #expect(room.admits(other))
        }

        /// A body that was cancelled would otherwise keep all others waiting for ever.
        @Test func `Nobody waits for longer than a turn for one that doesn't come`() {
            room.beginTurn()
            useUp()
            #expect(!room.admits(small))
            room.beginTurn()
            #expect(!room.admits(large))
            room.beginTurn()
            #expect(room.admits(large))
            #expect(room.admits(late))
            room.beginTurn()
            #expect(room.admits(late))
        }

        @Test func `Pieces that aren't encoded are counted in each turn`() {
            let room = DecodingRoom()
            for _ in 0..<2 {
                room.beginTurn()
                for _ in 0..<4_096 { #expect(room.takesPiece()) }
                #expect(!room.takesPiece())
            }
            #expect(room.mostPieces == 4_096)
        }

        @Test func `What was done in a turn counts for that one`() {
            useUp()
            room.work += 1
            room.beginTurn()
            #expect(room.work == 0 && !room.isUsedUp)
            #expect(room.most == Self.turn + 1)
        }
    }
#endif
