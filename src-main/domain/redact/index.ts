/** The one redactor (law 8). */
export { createStreamRedactor, type Found, mapSpan, type Redaction, redact, type StreamRedactor } from './redact'
