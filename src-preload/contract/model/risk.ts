import { z } from 'zod'

/** The four classes, in ascending order. A later layer may only move to the right. */
export const RISKS = ['read_only', 'reversible_low', 'config_mutation', 'destructive'] as const
export const Risk = z.enum(RISKS)
export type Risk = z.infer<typeof Risk>

/** A half-open range of UTF-16 code units in the text it belongs to. */
export const Span = z.object({ start: z.number().int().nonnegative(), end: z.number().int().nonnegative() }).readonly()
export type Span = z.infer<typeof Span>

export const EFFECT_KINDS = ['exec', 'read', 'write', 'delete', 'network', 'privilege', 'secret', 'power'] as const

/** What a command does to the world, as far as its text tells. `detail` is one short phrase (a path, a program, a host). */
export const Effect = z.object({ kind: z.enum(EFFECT_KINDS), detail: z.string() }).readonly()
export type Effect = z.infer<typeof Effect>

/** One finding: the rule that made it, the class it asks for, where it stands and one sentence a person understands. */
export const Reason = z.object({ rule: z.string(), risk: Risk, span: Span.nullable(), sentence: z.string() }).readonly()
export type Reason = z.infer<typeof Reason>

/**
 * Facts about a command that later layers need and a class cannot carry.
 * - `self`: reaches Nomos's own folder, sockets, tokens, process or its answering commands (law 9)
 * - `inlineEval`: a program text on the command line of an interpreter (`python -c`, `awk '…'`)
 * - `compound`: more than one simple command, or any substitution or file redirection
 * - `unending`: does not end by itself (`tail -f`, `ping`)
 * - `interactive`: needs a terminal (`less`, `top`)
 * - `tooLarge` / `tooDeep`: a cap was met; `invisible`: holds bidi controls or invisible characters
 */
export const Flags = z
  .object({
    self: z.boolean(),
    inlineEval: z.boolean(),
    compound: z.boolean(),
    unending: z.boolean(),
    interactive: z.boolean(),
    tooLarge: z.boolean(),
    tooDeep: z.boolean(),
    invisible: z.boolean(),
  })
  .readonly()
export type Flags = z.infer<typeof Flags>

/** The answer of `classify`. `coverage: partial` means that some of the text was not understood; it is never `read_only`. */
export const Classification = z
  .object({
    risk: Risk,
    reasons: z.array(Reason).readonly(),
    effects: z.array(Effect).readonly(),
    coverage: z.enum(['full', 'partial']),
    spans: z.array(Span.and(z.object({ risk: Risk }))).readonly(),
    flags: Flags,
  })
  .readonly()
export type Classification = z.infer<typeof Classification>

/** What a stretch of a command is to the shell. For colour only: nothing is decided by it. */
export const TOKEN_KINDS = [
  'program',
  'argument',
  'option',
  'string',
  'variable',
  'operator',
  'redirection',
  'keyword',
  'comment',
] as const
export const TokenKind = z.enum(TOKEN_KINDS)
export type TokenKind = z.infer<typeof TokenKind>
export const Token = Span.and(z.object({ kind: TokenKind })).readonly()
export type Token = z.infer<typeof Token>

/** A word as the program is given it; `known` is false when that is only settled while it runs (then `text` is as typed). */
export const DecodedWord = z.object({ text: z.string(), known: z.boolean() }).readonly()
export type DecodedWord = z.infer<typeof DecodedWord>

export const POSTURES = ['default', 'every-segment'] as const
export const Posture = z.enum(POSTURES)
export type Posture = z.infer<typeof Posture>
