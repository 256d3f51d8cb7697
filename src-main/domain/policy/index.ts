export * from './decide'
export * from './file'
