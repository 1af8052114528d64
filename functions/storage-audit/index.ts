// Answers over HTTP whether anything is stored in an old version: in the etcd that it was given, or
// in a snapshot that somebody sends. Wakes on no event, and changes nothing.
import { defineFunction } from '../../shared/function/define.ts';
import { list, text, url } from '../../shared/function/parsers.ts';
import { openEtcd } from '../../shared/etcd/client.ts';
import { routes, type Doors } from './routes.ts';

const endpoint = url('http', 'https');
const endpoints = list((value: string) => endpoint(value).href.replace(/\/$/, ''));
const prefixes = list(text);
const file = (value: string): string | undefined => value;

export const storageAudit = defineFunction({
  name: 'storage-audit',
  purpose: 'Says whether anything is stored in an old version, and which versions may be removed.',
  wakesOn: [],
  config: {
    endpoints: {
      env: 'ETCD_ENDPOINTS',
      meaning: 'the client URLs of the etcd to read, separated by commas; none when not set',
      parse: endpoints,
      fallback: [],
    },
    caPath: {
      env: 'ETCD_CA_FILE',
      meaning: 'the PEM file with the CA of its certificates',
      parse: file,
      fallback: undefined,
    },
    certPath: {
      env: 'ETCD_CERT_FILE',
      meaning: 'the PEM file with our client certificate',
      parse: file,
      fallback: undefined,
    },
    keyPath: {
      env: 'ETCD_KEY_FILE',
      meaning: 'the PEM file with the key of it',
      parse: file,
      fallback: undefined,
    },
    prefixes: {
      env: 'ETCD_PREFIXES',
      meaning: 'where API servers keep their keys, separated by commas',
      parse: prefixes,
      fallback: ['/registry', '/kubernetes.io'],
    },
  },
  open: ({ endpoints: urls, caPath, certPath, keyPath, prefixes: under }): Doors => {
    const etcd =
      urls.length === 0
        ? undefined
        : openEtcd({ endpoints: urls, tls: { caPath, certPath, keyPath } });
    return { etcd, endpoints: urls, prefixes: under };
  },
  close: async ({ etcd }) => etcd?.close(),
  routes,
});
