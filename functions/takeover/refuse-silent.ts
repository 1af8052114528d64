// Reasons in certificates why members that run answer nobody. It is asked for once none has
// answered: of those who answer the certificates are good enough. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { SecretData } from '../../shared/stateful/certificates/secret-data.ts';
import {
  authorityExpired,
  hasExpired,
  isSignedBy,
  unfitAsClient,
} from '../../shared/stateful/certificates/unfit.ts';
import { dataIn } from './refuse-secrets.ts';
import type { State } from './state.ts';

interface Shown {
  /** The Secrets, with their namespace. */
  readonly server: string;
  readonly operator: string;
  readonly ofServer: SecretData;
  readonly ofOperator: SecretData;
  readonly nowMs: number;
}

export function refuseSilent(state: State): readonly Reason[] {
  const { takeover, legacy, nowMs, pods } = state;
  if (legacy?.tls === undefined || !pods.some(({ isRunning }) => isRunning)) return [];
  const { serverSecret, operatorSecret } = legacy.tls;
  const shown = {
    server: `Secret ${takeover.namespace}/${serverSecret}`,
    operator: `Secret ${takeover.namespace}/${operatorSecret}`,
    ofServer: dataIn(state, serverSecret) ?? {},
    ofOperator: dataIn(state, operatorSecret) ?? {},
    nowMs,
  };
  const why = overTime(shown) ?? closed(shown) ?? unknownToMembers(shown) ?? unknownToUs(shown);
  return why === undefined ? [] : [why];
}

/** Members read their authority at start alone, and none of them starts anew. */
function overTime({ server, operator, ofServer, ofOperator, nowMs }: Shown): Reason | undefined {
  const { 'server.crt': serves = '', 'server-ca.crt': trusts = '' } = ofServer;
  const { 'etcd-client.crt': asks = '', 'etcd-client-ca.crt': ours = '' } = ofOperator;
  const ofClients = authorityExpired({ certificate: asks, ca: trusts }, nowMs);
  const ofServers = authorityExpired({ certificate: serves, ca: ours }, nowMs);
  if (!ofClients && !ofServers) return undefined;
  const where = ofClients ? `server-ca.crt of ${server}` : `etcd-client-ca.crt of ${operator}`;
  const message =
    `No member answers: the authority in ${where} has expired, so that nobody who knows it alone ` +
    'believes a certificate of it, and no client connects any more. Members that run would not ' +
    'take up another one. Take it over by hand: docs/takeover.md.';
  return { reason: 'AuthorityExpired', message };
}

function closed({ server, ofServer, nowMs }: Shown): Reason | undefined {
  const { 'server.crt': certificate = '', 'server-ca.crt': ca = '' } = ofServer;
  if (certificate === '') return undefined;
  const why = hasExpired(certificate, nowMs)
    ? 'has a certificate that has expired'
    : unfitAsClient({ certificate, ca }, 'its server-ca.crt');
  if (why === undefined) return undefined;
  const message =
    `No member answers: ${server} ${why}. Members are asked over HTTP, and pass that on to ` +
    'themselves as a client that shows their own certificate. Have an authority that clients ' +
    'trust, and that is in server-ca.crt, sign server.crt anew, for the same names, for servers ' +
    'and clients. Members take it up within two minutes; none has to start anew.';
  return { reason: 'GatewayClosed', message };
}

function unknownToMembers({ server, operator, ofServer, ofOperator }: Shown): Reason | undefined {
  const { 'etcd-client.crt': certificate = '' } = ofOperator;
  const ca = ofServer['server-ca.crt'] ?? '';
  const why = unfitAsClient({ certificate, ca }, `server-ca.crt of ${server}`);
  if (why === undefined) return undefined;
  const message =
    `No member answers: ${operator}, with which members are asked, ${why}. Put one into it as ` +
    'etcd-client.crt, with its etcd-client.key, that an authority in server-ca.crt signed, for ' +
    'clients.';
  return { reason: 'CertificateUnfit', message };
}

function unknownToUs({ server, operator, ofServer, ofOperator }: Shown): Reason | undefined {
  const { 'server.crt': certificate = '' } = ofServer;
  const ca = ofOperator['etcd-client-ca.crt'] ?? '';
  if (certificate === '' || isSignedBy(certificate, ca)) return undefined;
  const message =
    `No member answers: nobody in etcd-client-ca.crt of ${operator} signed server.crt of ` +
    `${server}, so that members are not believed. Put the authority into it that signed that.`;
  return { reason: 'CertificateUnfit', message };
}
