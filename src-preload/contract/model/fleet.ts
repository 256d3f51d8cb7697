import { z } from 'zod'

export const HostAuth = z.enum(['agent', 'key'])

/** What the Hosts form takes. A slug is what follows `host:`. */
export const HostInput = z
  .object({
    slug: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9-]{0,62}$/,
        'use lower-case letters, digits and dashes, beginning with a letter or digit',
      ),
    address: z
      .string()
      .min(1, 'the address is missing')
      .max(253)
      .regex(/^[A-Za-z0-9][A-Za-z0-9._:%-]*$|^[0-9a-fA-F:]+(%[A-Za-z0-9]+)?$/, 'use a host name or an IP address'),
    port: z
      .number()
      .int('use a whole number')
      .min(1, 'use a port between 1 and 65535')
      .max(65535, 'use a port between 1 and 65535'),
    user: z
      .string()
      .min(1, 'the user is missing')
      .max(64)
      .regex(/^[A-Za-z_][A-Za-z0-9._@\\-]*\$?$/, 'use a login name'),
    auth: HostAuth,
    keyPath: z.string().max(4096).nullable(),
    tags: z.array(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/)).max(16),
  })
  .refine((host) => host.auth !== 'key' || (host.keyPath !== null && host.keyPath.trim() !== ''), {
    path: ['keyPath'],
    message: 'name the private key file',
  })
export type HostInput = z.infer<typeof HostInput>

export const Host = z
  .object({
    slug: z.string(),
    address: z.string(),
    port: z.number().int(),
    user: z.string(),
    auth: HostAuth,
    keyPath: z.string().nullable(),
    tags: z.array(z.string()).readonly(),
  })
  .readonly()
export type Host = z.infer<typeof Host>

/** Why a connection or a run at a host could not be had. The sentence beside it says what to do. */
export const CONNECT_FAILURES = [
  'unreachable',
  'timeout',
  'host_key_unknown',
  'host_key_changed',
  'host_key_revoked',
  'known_hosts_unreadable',
  'auth_refused',
  'agent_missing',
  'key_missing',
  'key_unreadable',
  'key_passphrase_needed',
  'key_passphrase_wrong',
  'protocol',
  'connection_lost',
] as const
export const ConnectFailure = z.enum(CONNECT_FAILURES)
export type ConnectFailure = z.infer<typeof ConnectFailure>

export const KeyFingerprint = z.object({ algorithm: z.string(), fingerprint: z.string() }).readonly()
export type KeyFingerprint = z.infer<typeof KeyFingerprint>

/** The result of "Test connection". `presented` is what the host showed, `known` what the known_hosts files hold for it. */
export const HostTest = z
  .object({
    ok: z.boolean(),
    failure: ConnectFailure.nullable(),
    sentence: z.string(),
    detail: z.string().nullable(),
    presented: KeyFingerprint.nullable(),
    known: z.array(KeyFingerprint).readonly(),
    /** What the host said of itself (`uname -sr`), when the test came that far. */
    banner: z.string().nullable(),
    durationMs: z.number(),
  })
  .readonly()
export type HostTest = z.infer<typeof HostTest>
