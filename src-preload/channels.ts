/** The two IPC channels between main and the windows. */
export const REQUEST_CHANNEL = 'nomos:request'
export const EVENT_CHANNEL = 'nomos:event'
