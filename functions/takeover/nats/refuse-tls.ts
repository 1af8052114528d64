// Reasons against a takeover of a NatsCluster by what TLS there was and would be: clients have to
// trust the new servers, and servers of both each other. Each says what to do. Pure.
import { headlessName } from '../../../shared/api/etcd-names.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { clientHostOf, fieldOf } from '../legacy.ts';
import type { LegacyNats } from './legacy.ts';
import { makerOf } from './made/makers.ts';
import { configOf, type NatsState } from './state.ts';

type Listener = 'clients' | 'routes';

export function refuseTls(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const config = configOf(state);
  if (config === undefined) return [];
  return [
    ...differing(state, 'clients', config.hasTls, () => certificateForClients(state, legacy)),
    ...differing(state, 'routes', config.hasRouteTls, () => certificateForRoutes(state)),
  ];
}

/** Nobody who knew the old authority believes another one. */
function differing(
  { target }: NatsState,
  listener: Listener,
  had: boolean,
  missing: () => Reason,
): readonly Reason[] {
  const tls = fieldOf(target.wanted, 'tls');
  if (!had) return tls[listener] === undefined ? [] : [isNew(listener)];
  return fieldOf(tls, listener)['secretName'] === undefined ? [missing()] : [];
}

const OLD_ONES = { clients: 'Clients connect', routes: 'The old servers speak with each other' };

const isNew = (listener: Listener): Reason => ({
  reason: 'TlsDiffers',
  message:
    `${OLD_ONES[listener]} without TLS, and the new ones would ask for it. Leave ` +
    `spec.into.spec.tls.${listener} out.`,
});

const servers = ({ takeover: { namespace, spec } }: NatsState): string =>
  `*.${headlessName(spec.into.name)}.${namespace}.svc`;

function certificateForClients(state: NatsState, legacy: LegacyNats): Reason {
  const { namespace, spec } = state.takeover;
  const hosts = [clientHostOf(legacy), `${spec.into.name}.${namespace}.svc`, servers(state)];
  const message =
    'Clients trust the authority of the certificates that they know, and the new servers would ' +
    `show one of another authority. Have that one sign a certificate for ${hosts.join(', ')}, ` +
    'and for each other name that clients dial; put it into a Secret as tls.crt, tls.key and ' +
    'ca.crt, and name that in spec.into.spec.tls.clients.secretName.';
  return { reason: 'CertificateMissing', message };
}

function certificateForRoutes(state: NatsState): Reason {
  const { routeAuthority } = makerOf(state.takeover.spec.legacy).words;
  const message =
    `The old servers believe each other by an authority (${routeAuthority}), and the new ones ` +
    `have another one. Have the old one sign a certificate for ${servers(state)}, for servers ` +
    'and clients; put it into a Secret as tls.crt, tls.key and ca.crt, and name that in ' +
    'spec.into.spec.tls.routes.secretName.';
  return { reason: 'CertificateMissing', message };
}
