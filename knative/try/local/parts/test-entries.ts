// The rows of programs for tests and for trying, beside the servers and clients of everybody.
import type { PartEntry } from './part-entry.ts';

const HELM = 'helm.sh/helm/v4';
const PROMETHEUS = 'github.com/prometheus/prometheus';
const VERSITYGW = 'github.com/versity/versitygw';

const ofTests = {
  stamps: {},
  minorSkew: 0,
  isKubebuilderAsset: false,
  user: 'tests',
} as const;

const ofPrometheus = {
  ...ofTests,
  group: 'prometheus',
  module: PROMETHEUS,
  version: 'v0.316.0',
  stamps: { 'github.com/prometheus/common/version.Version': 'v0.316.0' },
  // The clients of every cloud are half of it.
  tags: ['remove_all_sd', 'enable_kubernetes_sd'],
  versionArgs: ['--version'],
} as const;

/** In the order in which they are built. */
export const testEntries: readonly PartEntry[] = [
  {
    ...ofTests,
    name: 'porcupine-check',
    group: 'porcupine',
    package: 'ballast.dev/parts/porcupine',
    module: 'github.com/anishathalye/porcupine',
    version: 'v1.3.1',
  },
  {
    // The example of docs/agents.md: it is tried by what tries our own reader.
    ...ofTests,
    name: 'feed-reader',
    group: 'feed-reader',
    package: 'ballast.dev/example/reader',
    module: 'github.com/nats-io/nats.go',
    version: 'v1.55.0',
  },
  {
    // An S3 that keeps its objects in a directory.
    ...ofTests,
    name: 'versitygw',
    group: 'versitygw',
    package: `${VERSITYGW}/cmd/versitygw`,
    module: VERSITYGW,
    version: 'v1.8.0',
    stamps: { 'main.Version': 'v1.8.0' },
    versionArgs: ['--version'],
  },
  {
    ...ofPrometheus,
    name: 'prometheus',
    package: `${PROMETHEUS}/cmd/prometheus`,
  },
  {
    // Runs the tests of alerts.
    ...ofPrometheus,
    name: 'promtool',
    package: `${PROMETHEUS}/cmd/promtool`,
  },
  {
    ...ofTests,
    name: 'helm',
    group: 'helm',
    package: `${HELM}/cmd/helm`,
    module: HELM,
    version: 'v4.3.1',
    stamps: { [`${HELM}/internal/version.version`]: 'v4.3.1' },
    versionArgs: ['version', '--short'],
  },
];
