// A Takeover with every field that the types in shared/api have, however deep.
import type { TakeoverSpec, TakeoverStatus } from '../../../shared/api/takeover.ts';
import { CONDITION as condition, type Whole, type WholeKind } from './whole-kind.ts';

const spec: Whole<Omit<TakeoverSpec, 'into'>> & Pick<TakeoverSpec, 'into'> = {
  legacy: {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    name: 'old',
    operator: { namespace: 'operators', name: 'etcd-operator' },
  },
  mode: 'Restore',
  into: { name: 'new', spec: {} },
};

const finding = { reason: 'NoQuorum', message: 'There is none.' };

const status: Whole<Omit<TakeoverStatus, 'conditions'>> & { readonly conditions: unknown[] } = {
  observedGeneration: 1,
  plan: {
    id: 'over-0123456789ab',
    next: 'Nothing',
    waitsFor: 'Nothing is carried out.',
    objects: [
      { action: 'Change', kind: 'Deployment', namespace: 'operators', name: 'op', why: 'It runs.' },
    ],
    steps: [
      {
        name: 'SwitchService',
        does: 'It does.',
        precondition: 'It holds.',
        writers: 'GoOn',
        noWayBack: true,
      },
    ],
    refusals: [finding],
    notes: [finding],
  },
  members: [
    {
      pod: 'old-x7k2m',
      id: '8e9e05c52164694d',
      version: '3.3.27',
      leads: true,
      storage: 'EmptyDir',
      databaseBytes: 20_480,
      silent: 'It does not answer.',
    },
  ],
  conditions: [condition],
};

const least = { legacy: { kind: 'EtcdCluster', name: 'old' }, into: { name: 'new' } };

export const TAKEOVER_KIND: WholeKind = {
  kind: 'Takeover',
  path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/takeovers',
  specs: { whole: spec },
  status,
  refused: ['.confirm', '.rollback'],
  least: { spec: least, filled: { mode: 'Restore' } },
};
