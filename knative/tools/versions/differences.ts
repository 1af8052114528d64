// How the schema of v1beta1 differs from that of v1alpha1, kind by kind: what
// functions/conversion/kinds converts, and nothing else. Each takes a copy and edits it.
import { fieldAt, type Node, nodeAt, replaced, taken } from './schema.ts';

export type Difference = (version: Node) => void;

const schemaOf = (version: Node): Node => nodeAt(version, 'schema', 'openAPIV3Schema');

const MINUTES_MAX = 99_999;
const HOUR_SECONDS = 3_600;

/** A number with its unit for each mode, where a text was for both. */
function compaction(spec: Node): void {
  const field = fieldAt(spec, 'compaction');
  replaced(field, 'retention', {
    retentionSeconds: {
      description: 'How long it is kept, in whole minutes; for Periodic.',
      type: 'integer',
      format: 'int64',
      minimum: 60,
      maximum: MINUTES_MAX * HOUR_SECONDS,
    },
    retentionRevisions: {
      description: 'Of how many changes it is kept; for Revision.',
      type: 'integer',
      format: 'int64',
      minimum: 1,
      maximum: 9_999_999_999,
    },
  });
  if (field['default'] === undefined) return;
  field['default'] = { mode: 'Periodic', retentionSeconds: HOUR_SECONDS };
  field['x-kubernetes-validations'] = [
    {
      rule: "(self.mode == 'Periodic') == has(self.retentionSeconds)",
      fieldPath: '.retentionSeconds',
      message: 'Periodic needs retentionSeconds; the other modes have no use for it.',
    },
    {
      rule: "(self.mode == 'Revision') == has(self.retentionRevisions)",
      fieldPath: '.retentionRevisions',
      message: 'Revision needs retentionRevisions; the other modes have no use for it.',
    },
    {
      rule: '!has(self.retentionSeconds) || self.retentionSeconds % 60 == 0',
      fieldPath: '.retentionSeconds',
      message: 'Write whole minutes, such as 1800 for half an hour.',
    },
    {
      rule:
        '!has(self.retentionSeconds) || self.retentionSeconds <= 5999940 || ' +
        'self.retentionSeconds % 3600 == 0',
      fieldPath: '.retentionSeconds',
      message: 'Write whole hours where it is more than 99999 minutes.',
    },
  ];
}

/** A key of a Secret, as passwords have it. */
function encryption(record: Node): void {
  const field = fieldAt(record, 'encryption');
  const [name, key] = [taken(field, 'secretName'), taken(field, 'key')];
  field['required'] = ['keySecret'];
  field['properties'] = {
    keySecret: {
      description: 'Where the key is.',
      type: 'object',
      required: ['name'],
      properties: { name, key },
    },
  };
}

function workTimes(schema: Node): void {
  const status = fieldAt(schema, 'status');
  replaced(status, 'startedAt', { startTime: fieldAt(status, 'startedAt') });
  replaced(status, 'completedAt', { completionTime: fieldAt(status, 'completedAt') });
}

function metadataFeed(version: Node): void {
  const spec = fieldAt(schemaOf(version), 'spec');
  const item = fieldAt(spec, 'resources', '[]');
  replaced(item, 'matchLabels', { selector: selectorOf(fieldAt(item, 'matchLabels')) });
  const nats = fieldAt(spec, 'nats');
  const { description } = fieldAt(nats, 'secretRef');
  const name = fieldAt(nats, 'secretRef', 'name');
  replaced(nats, 'secretRef', { secretName: { ...name, description } });
}

const selectorOf = (matchLabels: Node): Node => ({
  description:
    'Only objects that it selects are shown. One that it selects no longer is shown as removed.',
  type: 'object',
  'x-kubernetes-validations': [
    {
      rule: '!has(self.matchExpressions)',
      fieldPath: '.matchExpressions',
      // The function would show more than is asked for, as long as it reads v1alpha1.
      message: 'Say by matchLabels what is selected: expressions are not read in this release.',
    },
  ],
  properties: {
    matchLabels: { ...matchLabels, description: 'Labels that an object must have, all of them.' },
    matchExpressions: {
      description: 'What else must hold for its labels, all of it.',
      type: 'array',
      minItems: 1,
      maxItems: 16,
      'x-kubernetes-list-type': 'atomic',
      items: {
        description: 'One of them.',
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { description: 'The label.', type: 'string', minLength: 1, maxLength: 317 },
          operator: {
            description: 'How its value relates to the values.',
            type: 'string',
            enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
          },
          values: {
            description: 'For In and NotIn.',
            type: 'array',
            maxItems: 32,
            'x-kubernetes-list-type': 'atomic',
            items: { description: 'A value.', type: 'string', maxLength: 63 },
          },
        },
      },
    },
  },
});

function storageMigration(version: Node): void {
  const schema = schemaOf(version);
  const spec = fieldAt(schema, 'spec');
  replaced(spec, 'pause', { paused: fieldAt(spec, 'pause') });
  const phase = fieldAt(schema, 'status', 'phase');
  const phases = Array.isArray(phase['enum']) ? phase['enum'] : [];
  phase['enum'] = phases.map((one: unknown) => (one === 'Done' ? 'Complete' : one));
}

function etcdPeer(version: Node): void {
  const spec = fieldAt(schemaOf(version), 'spec');
  compaction(spec);
  const { description: _description, ...name } = fieldAt(spec, 'cluster');
  replaced(spec, 'cluster', {
    etcdCluster: {
      description: 'Its EtcdCluster.',
      type: 'object',
      required: ['name'],
      properties: { name: { description: 'The name of it.', ...name } },
    },
  });
  const [rule] = rulesOf(spec);
  if (rule === undefined) throw new TypeError('EtcdPeer has no rules.');
  rule['rule'] =
    'self.etcdCluster.name == oldSelf.etcdCluster.name && self.ordinal == oldSelf.ordinal';
  const columns = version['additionalPrinterColumns'];
  const all = Array.isArray(columns) ? columns : [];
  version['additionalPrinterColumns'] = all.map((column: Node) =>
    column['jsonPath'] === '.spec.cluster'
      ? { ...column, jsonPath: '.spec.etcdCluster.name' }
      : column,
  );
}

const rulesOf = (schema: Node): readonly Node[] => {
  const rules = schema['x-kubernetes-validations'];
  return Array.isArray(rules) ? rules : [];
};

function etcdBackup(version: Node): void {
  const schema = schemaOf(version);
  encryption(fieldAt(schema, 'spec'));
  workTimes(schema);
}

function etcdRestore(version: Node): void {
  const schema = schemaOf(version);
  encryption(fieldAt(schema, 'spec', 'source'));
  workTimes(schema);
}

const nothing: Difference = () => undefined;

/** By kind. Where one has a spec of an EtcdCluster inside, that has no schema of its own. */
export const DIFFERENCES: Readonly<Record<string, Difference>> = {
  EtcdBackup: etcdBackup,
  EtcdBackupSchedule: (version) => encryption(fieldAt(schemaOf(version), 'spec', 'template')),
  EtcdCluster: (version) => compaction(fieldAt(schemaOf(version), 'spec')),
  EtcdPeer: etcdPeer,
  EtcdRestore: etcdRestore,
  MetadataFeed: metadataFeed,
  NatsCluster: nothing,
  StorageMigration: storageMigration,
  Takeover: nothing,
};
