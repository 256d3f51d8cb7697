export * from './clock'
export * from './log'
export * from './paths'
