import type { ReactNode } from 'react'
import type { Risk } from '../../src-preload/contract'
import type { CardState } from './words'

const stroke = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.6,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const

function Sign({ children, className, size = 14 }: { children: ReactNode; className?: string; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className={`shrink-0 ${className ?? ''}`}
      height={size}
      viewBox="0 0 16 16"
      width={size}
      focusable="false"
    >
      {children}
    </svg>
  )
}

const RISK_SHAPE: Readonly<Record<Risk, ReactNode>> = {
  read_only: <circle cx="8" cy="8" r="5.5" {...stroke} strokeWidth={2} />,
  reversible_low: (
    <>
      <circle cx="8" cy="8" r="5.5" {...stroke} strokeWidth={2} />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
    </>
  ),
  config_mutation: <rect fill="currentColor" height="11" rx="1" width="11" x="2.5" y="2.5" />,
  destructive: <path d="M8 1.5 15.2 14H.8z" fill="currentColor" />,
}

/** Text colour of each class. */
export const RISK_COLOUR: Readonly<Record<Risk, string>> = {
  read_only: 'text-read-only',
  reversible_low: 'text-reversible',
  config_mutation: 'text-change',
  destructive: 'text-destructive',
}

/** The shape of a risk class: hollow circle, half circle, square, triangle. */
export function RiskSign({ risk }: { readonly risk: Risk }) {
  return <Sign className={RISK_COLOUR[risk]}>{RISK_SHAPE[risk]}</Sign>
}

const clockFace = (
  <>
    <circle cx="8" cy="8" r="5.8" {...stroke} />
    <path d="M8 4.8V8l2.2 1.6" {...stroke} />
  </>
)

const STATE_SHAPE: Readonly<Record<CardState, ReactNode>> = {
  requested: <circle cx="8" cy="8" r="5.5" {...stroke} strokeDasharray="2.4 2.4" />,
  pending_approval: <circle cx="8" cy="8" r="5.2" {...stroke} strokeWidth={2.6} />,
  approved: <path d="M1.8 8.6 4.4 6l2.4 2.4L12 3.2l2.6 2.6-7.8 7.8z" {...stroke} strokeWidth={1.3} />,
  running: <circle cx="8" cy="8" fill="currentColor" r="4.5" />,
  completed: <path d="m2.5 8.5 3.6 3.6 7.4-8" {...stroke} strokeWidth={2.2} />,
  failed: <path d="m3.5 3.5 9 9m0-9-9 9" {...stroke} strokeWidth={2.2} />,
  timed_out: (
    <>
      <circle cx="6.8" cy="6.8" r="5.2" {...stroke} />
      <path d="M6.8 4v2.9l1.8 1.2" {...stroke} />
      <path d="m10.8 10.8 4 4m0-4-4 4" {...stroke} strokeWidth={2} />
    </>
  ),
  cancelled: <rect height="9" rx="1" width="9" x="3.5" y="3.5" {...stroke} strokeWidth={2} />,
  denied: <path d="M2 8h12" {...stroke} strokeWidth={3.2} />,
  expired: clockFace,
  undeliverable: (
    <>
      <path
        d="M6.6 4.6 8 3.2a3.2 3.2 0 0 1 4.6 4.6l-1.4 1.4M9.4 11.4 8 12.8a3.2 3.2 0 0 1-4.6-4.6l1.4-1.4"
        {...stroke}
      />
      <path d="m2 2 12 12" {...stroke} strokeWidth={1.2} strokeDasharray="1.4 2" />
    </>
  ),
  revoked: <path d="M6 3 2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 8H7" {...stroke} strokeWidth={1.8} />,
  unknown: (
    <>
      <path d="M5 5.4a3 3 0 1 1 4.4 2.7c-.9.5-1.4 1-1.4 2" {...stroke} strokeWidth={2} />
      <circle cx="8" cy="13.2" fill="currentColor" r="1.3" />
    </>
  ),
}

/** Text colour of each state. */
export const STATE_COLOUR: Readonly<Record<CardState, string>> = {
  requested: 'text-ink-2',
  pending_approval: 'text-change',
  approved: 'text-change',
  running: 'text-accent',
  completed: 'text-read-only',
  failed: 'text-destructive',
  timed_out: 'text-destructive',
  cancelled: 'text-ink-2',
  denied: 'text-ink-2',
  expired: 'text-ink-2',
  undeliverable: 'text-ink-2',
  revoked: 'text-ink-2',
  unknown: 'text-unknown',
}

/** The sign of a state, each with its own outline. Only the running one moves, and not under reduced motion. */
export function StateSign({ state }: { readonly state: CardState }) {
  return <Sign className={`${STATE_COLOUR[state]} ${state === 'running' ? 'pulse' : ''}`}>{STATE_SHAPE[state]}</Sign>
}

const NAMED = {
  chat: <path d="M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z" {...stroke} />,
  approvals: (
    <>
      <rect height="11" rx="1.5" width="11" x="2.5" y="2.5" {...stroke} />
      <path d="m5.2 8.2 2 2 3.6-4.2" {...stroke} />
    </>
  ),
  activity: <path d="M2 4h12M2 8h12M2 12h8" {...stroke} />,
  fleet: (
    <>
      <rect height="4" rx="1" width="11" x="2.5" y="3" {...stroke} />
      <rect height="4" rx="1" width="11" x="2.5" y="9" {...stroke} />
      <path d="M5 5h.01M5 11h.01" {...stroke} strokeWidth={2} />
    </>
  ),
  policy: <path d="M8 1.8 13 4v4c0 3-2.2 5.2-5 6.2C5.2 13.2 3 11 3 8V4z" {...stroke} />,
  settings: (
    <>
      <path d="M2 4.5h6m4 0h2M2 11.5h2m4 0h6" {...stroke} />
      <circle cx="10" cy="4.5" r="1.8" {...stroke} />
      <circle cx="6" cy="11.5" r="1.8" {...stroke} />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.2" {...stroke} />
      <path d="m10.2 10.2 3.4 3.4" {...stroke} />
    </>
  ),
  plus: <path d="M8 3v10M3 8h10" {...stroke} />,
  close: <path d="m4 4 8 8m0-8-8 8" {...stroke} />,
  list: <path d="M2.5 3.5h11v9h-11zM6.5 3.5v9" {...stroke} />,
  now: <path d="M2.5 3.5h11v9h-11zM9.5 3.5v9" {...stroke} />,
  pencil: <path d="m3 13 .6-2.8 7-7a1.5 1.5 0 0 1 2.2 2.2l-7 7z" {...stroke} />,
  bin: <path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5" {...stroke} />,
  chevron: <path d="m6 4 4 4-4 4" {...stroke} />,
  warning: <path d="M8 2 14.5 13.5h-13zM8 6.5v3M8 11.6v.01" {...stroke} />,
} as const satisfies Record<string, ReactNode>

export type IconName = keyof typeof NAMED

/** A plain line icon; the button around it carries the name. */
export function Icon({ name, size = 16, className }: { name: IconName; size?: number; className?: string }) {
  return (
    <Sign size={size} {...(className === undefined ? {} : { className })}>
      {NAMED[name]}
    </Sign>
  )
}
