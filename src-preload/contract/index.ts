export * from './errors'
export * from './events'
export * from './model'
export * from './routes'
