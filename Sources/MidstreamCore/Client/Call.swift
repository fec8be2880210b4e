/// What belongs to one call and is shared by all its attempts.
package final class Call: Sendable {
    package let delivery: BodyDelivery

    package init(delivery: BodyDelivery) {
        self.delivery = delivery
    }
}
