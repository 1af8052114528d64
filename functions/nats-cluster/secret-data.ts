// Everything that Secrets told, or lacked, and everything that reading them needs.
import type { Reason } from '../../shared/kube/conditions.ts';
import type {
  OwnSecret,
  SecretsDeps as SecretsDepsOfAll,
  SecretToMake,
} from '../../shared/stateful/certificates/secret-data.ts';
import type { Cluster } from './cluster.ts';
import type { Credentials } from './credentials.ts';
import type { KnownPasswords } from './render/read-back.ts';

export interface SecretsRead {
  readonly system?: OwnSecret;
  readonly systemPassword?: string;
  /** Former passwords that a server may still have. */
  readonly formerPasswords?: readonly string[];
  /** Authorities of all certificates that servers may have now. */
  readonly trustedCa?: string;
  /** Pods, by uid, that may speak plain although the configuration says TLS. */
  readonly beforeTls?: readonly string[];
  /** A task of the clients that has a date, for people. */
  readonly notice?: string;
  readonly toMake?: SecretToMake;
  readonly lacking?: Reason;
  readonly credentials?: Credentials;
}

export interface SecretsDeps extends SecretsDepsOfAll {
  /** Passwords that servers were given when the configuration was last there. */
  readonly known?: KnownPasswords | undefined;
  /** The servers' pods, by uid. */
  readonly running?: readonly string[];
  /** A server was reached with TLS since the configuration says so. */
  readonly hasSeenTls?: boolean | undefined;
}

/** A loss is reported only where servers exist, since these have another password or authority. */
export const reported = ({ status }: Cluster, lost: Reason | undefined): Reason | undefined =>
  (status.servers ?? []).length > 0 ? lost : undefined;

export const passwordLost = ({ name }: Cluster, suffix: string): Reason => ({
  reason: 'PasswordLost',
  message:
    `Secret ${name}${suffix} was gone, and so was what told its passwords: it has new ones. ` +
    'Whoever had them from it fetches them anew; servers take the former ones until they are ' +
    'reloaded.',
});
