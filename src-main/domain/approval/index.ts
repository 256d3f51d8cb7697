export * from './phrase'
export * from './plan'
