// Reasons in certificates why members that run answer nobody. It is asked for once none has
// answered: of those who answer the certificates are good enough. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import {
  authorityExpired,
  hasExpired,
  isSignedBy,
  unfitAsClient,
} from '../../shared/stateful/certificates/unfit.ts';
import type { LegacyTls } from './legacy.ts';
import { dataIn, mayTrustBlindly } from './refuse-secrets.ts';
import type { State } from './state.ts';

interface Shown {
  readonly tls: LegacyTls;
  /** The Secrets, with their namespace. */
  readonly server: string;
  readonly trust: string;
  readonly operator: string;
  /** The certificate of members, and whom they let in. */
  readonly serves: string;
  readonly trusts: string;
  /** The certificate of the operator, and whom it believes. */
  readonly asks: string;
  readonly believes: string;
  readonly nowMs: number;
}

export function refuseSilent(state: State): readonly Reason[] {
  const { takeover, legacy, nowMs, pods } = state;
  if (legacy?.tls === undefined || !pods.some(({ isRunning }) => isRunning)) return [];
  const { tls } = legacy;
  const of = (name: string, entry: string): string => dataIn(state, name)?.[entry] ?? '';
  const serves = of(tls.serverSecret, tls.served);
  const asks = of(tls.operatorSecret, tls.keys.certificate);
  const shown = {
    tls,
    server: `Secret ${takeover.namespace}/${tls.serverSecret}`,
    trust: `Secret ${takeover.namespace}/${tls.trustSecret}`,
    operator: `Secret ${takeover.namespace}/${tls.operatorSecret}`,
    serves,
    // Where nobody may know whom they let in, it is taken for right.
    trusts: mayTrustBlindly(state) ? `${serves}${asks}` : of(tls.trustSecret, tls.trusted),
    asks,
    believes: of(tls.operatorSecret, tls.keys.authority),
    nowMs,
  };
  const why = overTime(shown) ?? closed(shown) ?? unknownToMembers(shown) ?? unknownToUs(shown);
  return why === undefined ? [] : [why];
}

/** Members read their authority at start alone, and none of them starts anew. */
function overTime(shown: Shown): Reason | undefined {
  const { tls, trust, operator, serves, trusts, asks, believes, nowMs } = shown;
  const ofClients = authorityExpired({ certificate: asks, ca: trusts }, nowMs);
  const ofServers = authorityExpired({ certificate: serves, ca: believes }, nowMs);
  if (!ofClients && !ofServers) return undefined;
  const where = ofClients ? `${tls.trusted} of ${trust}` : `${tls.keys.authority} of ${operator}`;
  const message =
    `No member answers: the authority in ${where} has expired, so that nobody who knows it alone ` +
    'believes a certificate of it, and no client connects any more. Members that run would not ' +
    'take up another one. Take it over by hand: docs/takeover.md.';
  return { reason: 'AuthorityExpired', message };
}

function closed({ tls, server, serves, trusts: ca, nowMs }: Shown): Reason | undefined {
  const certificate = serves;
  if (certificate === '') return undefined;
  const why = hasExpired(certificate, nowMs)
    ? 'has a certificate that has expired'
    : unfitAsClient({ certificate, ca }, whomTheyTrust(tls));
  if (why === undefined) return undefined;
  const message =
    `No member answers: ${server} ${why}. Members are asked over HTTP, and pass that on to ` +
    'themselves as a client that shows their own certificate. Have an authority that clients ' +
    `trust, and that is in ${tls.trusted}, sign ${tls.served} anew, for the same names, for ` +
    'servers and clients. Members take it up within two minutes; none has to start anew.';
  return { reason: 'GatewayClosed', message };
}

const whomTheyTrust = ({ serverSecret, trustSecret, trusted }: LegacyTls): string =>
  serverSecret === trustSecret ? `its ${trusted}` : `${trusted} of Secret ${trustSecret}`;

function unknownToMembers({ tls, trust, operator, asks, trusts }: Shown): Reason | undefined {
  const files = { certificate: asks, ca: trusts };
  const why = unfitAsClient(files, `${tls.trusted} of ${trust}`);
  if (why === undefined) return undefined;
  const message =
    `No member answers: ${operator}, with which members are asked, ${why}. Put one into it as ` +
    `${tls.keys.certificate}, with its ${tls.keys.key}, that an authority in ${tls.trusted} ` +
    'signed, for clients.';
  return { reason: 'CertificateUnfit', message };
}

function unknownToUs({ tls, server, operator, serves, believes }: Shown): Reason | undefined {
  if (serves === '' || isSignedBy(serves, believes)) return undefined;
  const message =
    `No member answers: nobody in ${tls.keys.authority} of ${operator} signed ${tls.served} of ` +
    `${server}, so that members are not believed. Put the authority into it that signed that.`;
  return { reason: 'CertificateUnfit', message };
}
