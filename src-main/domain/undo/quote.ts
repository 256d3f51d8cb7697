export { quoteAll, quoteIfNeeded } from '../shell'
