// The pieces of undici that are used here, in a file of its own: it is loaded by the first call.
export { Pool } from 'undici';
