// Choices that values of the chart switch on: components of knative/, and patches as docs/example
// has them. Kustomize renders each, and it stands in the templates under its condition.
import { expressed, listed } from './marks.ts';

export interface Choice {
  /** As a template asks for it. */
  readonly when: string;
  /** Folders in knative/. */
  readonly components?: readonly string[];
  readonly patches?: readonly Patch[];
}

interface Patch {
  readonly target: { readonly kind: string; readonly name: string };
  readonly patch: string;
}

export const COMPONENTS = ['alerts', 'callers', 'dashboards', 'nats-secret', 'oidc'] as const;

const API_SERVER = listed('.Values.network.apiServer', 'ipBlock: {cidr: {{ . | quote }}}');
const NATS = listed('.Values.network.nats', 'ipBlock: {cidr: {{ . | quote }}}');
const CLASS = expressed('.Values.broker.class | quote');
const CONFIG = expressed('.Values.broker.config | toJson');

const BY_API_SERVER =
  'console|dead-letters|etcd-backup|etcd-cluster|etcd-peer|etcd-restore|metadata|nats-cluster|' +
  'storage-migration|takeover';

export const choices: readonly Choice[] = [
  ...COMPONENTS.map((name) => ({
    when: `index .Values.components "${name}"`,
    components: [name],
  })),
  {
    when: '.Values.network.apiServer',
    patches: [
      added('NetworkPolicy', BY_API_SERVER, '/spec/egress/0/to', [API_SERVER]),
      added('NetworkPolicy', 'sources', '/spec/egress/1/to', [API_SERVER]),
    ],
  },
  {
    when: '.Values.network.nats',
    patches: [
      added('NetworkPolicy', 'locate', '/spec/egress/0/to/-', NATS),
      added('NetworkPolicy', 'console|metadata', '/spec/egress/1/to/-', NATS),
    ],
  },
  {
    when: '.Values.broker.class',
    patches: [
      added('Broker', 'ballast', '/metadata/annotations', {
        'eventing.knative.dev/broker.class': CLASS,
      }),
      added('Broker', 'ballast', '/spec/config', CONFIG),
    ],
  },
];

function added(kind: string, name: string, path: string, value: unknown): Patch {
  return { target: { kind, name }, patch: JSON.stringify([{ op: 'add', path, value }]) };
}
