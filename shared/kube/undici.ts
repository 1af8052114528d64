// The pieces of undici that are used here, in a file of their own: it is loaded by the first
// call, and a bundler sees which names a CommonJS package has.
export { Pool, ProxyAgent } from 'undici';
