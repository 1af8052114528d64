// The piece of undici that is used here, in a file of its own: it is loaded by the first call.
export { Pool } from 'undici';
