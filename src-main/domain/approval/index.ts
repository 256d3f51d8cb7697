export * from './assent'
export * from './phrase'
export * from './plan'
export * from './surfaces'
