// The environment variables by which a function is told of an etcd that it may read: one set of
// names for all functions.
import type { ConfigShape } from './config.ts';
import { list, text, url } from './parsers.ts';

export interface EtcdConfig {
  /** Empty when there is no etcd to read. */
  readonly endpoints: readonly string[];
  readonly caPath: string | undefined;
  readonly certPath: string | undefined;
  readonly keyPath: string | undefined;
  readonly prefixes: readonly string[];
}

const endpoint = url('http', 'https');
const endpoints = list((value: string) => endpoint(value).href.replace(/\/$/, ''));
const prefixes = list(etcdPrefix);

/** As an API server takes its --etcd-prefix: with one slash before it and none behind. */
export function etcdPrefix(value: string): string {
  if (/^\/?[^/].*$/.test(value)) return `/${value.replace(/^\//, '').replace(/\/+$/, '')}`;
  throw new Error('not as /registry');
}

export const ETCD_CONFIG: ConfigShape<EtcdConfig> = {
  endpoints: {
    env: 'ETCD_ENDPOINTS',
    meaning: 'the client URLs of the etcd to read, separated by commas; none when not set',
    parse: endpoints,
    fallback: [],
  },
  caPath: {
    env: 'ETCD_CA_FILE',
    meaning: 'the PEM file with the CA of its certificates',
    parse: text,
    fallback: undefined,
  },
  certPath: {
    env: 'ETCD_CERT_FILE',
    meaning: 'the PEM file with our client certificate',
    parse: text,
    fallback: undefined,
  },
  keyPath: {
    env: 'ETCD_KEY_FILE',
    meaning: 'the PEM file with the key of it',
    parse: text,
    fallback: undefined,
  },
  prefixes: {
    env: 'ETCD_PREFIXES',
    meaning: 'where API servers keep their keys, separated by commas',
    parse: prefixes,
    fallback: ['/registry', '/kubernetes.io'],
  },
};

/** A certificate proves nothing without its key: etcd would be asked without one. */
export function etcdConflicts({ certPath, keyPath }: EtcdConfig): readonly string[] {
  if ((certPath === undefined) === (keyPath === undefined)) return [];
  const [one, other] = certPath === undefined ? ['KEY', 'CERT'] : ['CERT', 'KEY'];
  const problem = `ETCD_${one}_FILE is set without ETCD_${other}_FILE`;
  return [`${problem}, so that etcd would be shown no certificate: set both or none`];
}
