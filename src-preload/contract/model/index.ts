/** The shared readonly models: what main, window and command line all speak of. */
export * from './chat'
export * from './desk'
export * from './fleet'
export * from './ledger'
export * from './policy'
export * from './risk'
export * from './run'
export * from './settings'
