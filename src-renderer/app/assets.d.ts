/** Style sheets are imported for their effect; the bundler turns them into a file of their own. */
declare module '*.css'
