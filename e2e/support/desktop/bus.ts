export { end, startBus, type TestBus, until } from '../../../src-main/adapters/freedesktop/private-bus.fixture'
