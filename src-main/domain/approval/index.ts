export * from './phrase'
export * from './plan'
export * from './surfaces'
