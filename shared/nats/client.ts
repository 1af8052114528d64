// The pieces of the `nats` package that are used here. Loaded when first needed, by its own file: a
// function's cold start does not wait for it, and a bundler sees which names a CommonJS package
// has.
export {
  NatsError,
  connect,
  createInbox,
  credsAuthenticator,
  headers,
  nkeyAuthenticator,
} from 'nats';
