// Reasons against a takeover on the side of the new EtcdCluster: its size, and whether the clients
// of the old one could connect to it. Each says what to do. Pure.
import type { EtcdClusterSpec } from '../../shared/api/etcd-cluster.ts';
import { headlessName } from '../../shared/api/etcd-names.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { quantityOf } from '../../shared/kube/quantity.ts';
import {
  type CertificateFiles,
  certificatesIn,
  type SecretData,
} from '../../shared/stateful/certificates/secret-data.ts';
import { isSignedBy, unfit, unfitAsClient } from '../../shared/stateful/certificates/unfit.ts';
import { answersOf } from './answers.ts';
import { clientHostOf, type LegacyEtcd, type LegacyTls } from './legacy.ts';
import { givenIn } from './read-secrets.ts';
import { dataIn, refuseSecrets } from './refuse-secrets.ts';
import type { State } from './state.ts';

const CLOSED: Reason = {
  reason: 'PolicyClosed',
  message:
    'The NetworkPolicy of the new EtcdCluster would let in neither those who are clients now nor ' +
    'the comparison of its keys. Leave spec.into.spec.networkPolicy out, and write Closed ' +
    'afterwards.',
};

const WANTS_LOGINS: Reason = {
  reason: 'LoginsTooEarly',
  message:
    'The new members would ask for logins, and neither those who are clients now nor the ' +
    'takeover have any. Leave spec.into.spec.auth out, and write it afterwards.',
};

export function refuseTarget(state: State): readonly Reason[] {
  const { target } = state;
  // The policy of the function refuses it as well; that is told once.
  if (target.wanted['auth'] !== undefined) return [WANTS_LOGINS];
  if (target.refused !== undefined) return [target.refused];
  const { spec } = target;
  if (spec === undefined) return [];
  return [...(spec.networkPolicy === 'Closed' ? [CLOSED] : []), ...tooLarge(state, spec)];
}

function tooLarge(state: State, spec: EtcdClusterSpec): readonly Reason[] {
  const sizes = answersOf(state).map(({ answer }) => answer.status.dbSizeBytes);
  const largest = Math.max(0, ...sizes);
  if (largest <= quantityOf(spec.quota)) return [];
  const message =
    `A database has ${largest} bytes, more than the quota of ${spec.quota}: etcd would take no ` +
    'write. Write a larger spec.into.spec.quota, and a storage.size of twice that.';
  return [{ reason: 'QuotaTooSmall', message }];
}

/** Clients go on with the certificates that they have. */
export function refuseCertificates(state: State): readonly Reason[] {
  const { legacy, target } = state;
  const mode = target.spec?.tls.clients.mode;
  if (legacy === undefined || mode === undefined) return [];
  if (legacy.tls === undefined) return mode === 'None' ? [] : [TLS_IS_NEW];
  if (mode === 'None') return [TLS_IS_GONE];
  const { trustSecret, operatorSecret } = legacy.tls;
  const given = givenIn(target);
  if (given === '') return [certificateToMake(state, legacy, legacy.tls)];
  if (refuseSecrets(state).length > 0) return [];
  const [operator, trust, next] = [operatorSecret, trustSecret, given].map((name) =>
    dataIn(state, name),
  );
  return fitness(state, legacy, legacy.tls, { operator, trust, next });
}

const TLS_IS_NEW: Reason = {
  reason: 'TlsDiffers',
  message:
    'Clients connect without TLS, and the new EtcdCluster would ask for certificates. Leave ' +
    'spec.into.spec.tls.clients.mode out, or write None: TLS comes with a restore of its own.',
};

const TLS_IS_GONE: Reason = {
  reason: 'TlsDiffers',
  message:
    'Clients connect over TLS, and the new EtcdCluster would have none. Leave ' +
    'spec.into.spec.tls.clients.mode out, or write Mutual.',
};

/** The names by which clients may know the new members. */
function hostsOf({ takeover: { namespace, spec } }: State, legacy: LegacyEtcd): readonly string[] {
  const { name } = spec.into;
  return [
    clientHostOf(legacy),
    `${name}.${namespace}.svc`,
    `*.${headlessName(name)}.${namespace}.svc`,
  ];
}

function certificateToMake(state: State, legacy: LegacyEtcd, tls: LegacyTls): Reason {
  const message =
    'Clients trust the authority of the certificates that they know, and the new members would ' +
    'show one of another authority. Have that authority ' +
    `(${tls.keys.authority} in Secret ${tls.operatorSecret}) sign a certificate for ` +
    `${hostsOf(state, legacy).join(', ')}, ` +
    'for servers and clients; put it into a Secret as tls.crt, tls.key and ca.crt, and name that ' +
    'in spec.into.spec.tls.clients.secretName.';
  return { reason: 'CertificateMissing', message };
}

interface Files {
  readonly operator: SecretData | undefined;
  readonly trust: SecretData | undefined;
  readonly next: SecretData | undefined;
}

/** Old clients have to trust the new members, and new members the old clients. */
function fitness(
  state: State,
  legacy: LegacyEtcd,
  tls: LegacyTls,
  { operator = {}, trust, next = {} }: Files,
): readonly Reason[] {
  const { namespace } = legacy;
  const which = `Secret ${namespace}/${givenIn(state.target)}`;
  const shown = { certificate: next['tls.crt'] ?? '', key: next['tls.key'] ?? '' };
  const known = { ...shown, ca: operator[tls.keys.authority] ?? '' };
  const whys = hostsOf(state, legacy).map((host) => {
    const asked = host.replace('*', 'any');
    return (unfit(known, asked, state.nowMs) ?? '').replaceAll(asked, host).replace(...THEIR_CA);
  });
  const unfits = [...new Set(whys)]
    .filter((why) => why !== '')
    .map((why) => ({
      reason: 'CertificateUnfit',
      message:
        `${which}, which spec.into.spec.tls.clients names, ${why}: clients would be cut ` +
        `off. Have it signed anew for ${hostsOf(state, legacy).join(', ')}.`,
    }));
  const unknown = unknownToItself(state, legacy, tls, { ...shown, ca: next['ca.crt'] ?? '' });
  if (unfits.length === 0 && unknown !== undefined) return [unknown];
  if (letsIn(next['ca.crt'] ?? '', trust?.[tls.trusted], operator[tls.keys.certificate])) {
    return unfits;
  }
  const message =
    `ca.crt of ${which} has not all certificates of ${tls.trusted} in Secret ` +
    `${namespace}/${tls.trustSecret}, so that clients with certificates of before ` +
    'would be refused. Add them to it.';
  return [...unfits, { reason: 'CertificateUnfit', message }];
}

/** All whom the old members let in; where nobody may know who that is, the operator for one. */
function letsIn(ca: string, trusted: string | undefined, operator: string | undefined): boolean {
  if (trusted === undefined) return isSignedBy(operator ?? '', ca);
  const known = new Set(certificatesIn(ca));
  return certificatesIn(trusted).every((one) => known.has(one));
}

/** Members ask each other and are asked with it; without that writers would wait for ever. */
function unknownToItself(
  state: State,
  legacy: LegacyEtcd,
  tls: LegacyTls,
  files: CertificateFiles,
): Reason | undefined {
  const [host = ''] = hostsOf(state, legacy);
  const which = `Secret ${legacy.namespace}/${givenIn(state.target)}`;
  const why = unfit(files, host, state.nowMs);
  if (why === undefined) return forServersAlone(which, files);
  const message =
    `${which}, which spec.into.spec.tls.clients names, ${why}, so that the new EtcdCluster ` +
    `would not take it. Add ${tls.keys.authority} of Secret ` +
    `${legacy.namespace}/${tls.operatorSecret} to that.`;
  return { reason: 'CertificateUnfit', message };
}

function forServersAlone(which: string, files: CertificateFiles): Reason | undefined {
  const why = unfitAsClient(files);
  if (why === undefined) return undefined;
  const message =
    `${which}, which spec.into.spec.tls.clients names, ${why}, and the new members show it as ` +
    'clients, too. Have it signed anew for servers and clients.';
  return { reason: 'CertificateUnfit', message };
}

/** That of the clients is meant. */
const THEIR_CA = ['nobody in its ca.crt signed', 'no authority of the clients signed'] as const;
