// Files that name more than they reach: the top of the repository, or a folder in it, as a place
// where paths begin, or where a tool is to work. Named by any other, a folder stands for all in it.

const NARROWED: Readonly<Record<string, readonly string[]>> = {
  // esbuild and tsc find what they bundle from the files that are named beside it.
  'knative/tools/build/build.ts': [],
  'knative/tools/build/plugin/build.ts': [],
  'knative/tools/build/reader/build.ts': [],
  'knative/tools/release/release.ts': [],
  'test/integration/etcd-backup/program.ts': [],
  // It asks Git whether all is committed, whatever that is.
  'knative/tools/release/committed.ts': [],
  // It runs npm scripts, beside what it bundles.
  'test/unit/kubectl-ballast/executable.test.ts': [
    'functions/etcd-backup',
    'functions/storage-audit',
    'knative/tools',
    'knative/try/local/audit.ts',
    'knative/try/local/watch.ts',
  ],
  // Whichever functions the manifests name, and room on the disk.
  'knative/try/local/view/session.ts': ['functions'],
  // Commands that the session advises: `audit` and `migrate`.
  'test/integration/start.test.ts': ['knative/tools/migrate/main.ts', 'knative/try/local/audit.ts'],
  'test/integration/start-step.test.ts': [],
  // It copies a clone and has an image made there.
  'test/integration/images/function-image.test.ts': ['functions', 'shared', 'knative'],
  'test/integration/manifests/from-nothing.test.ts': ['functions', 'knative'],
  // A clone as a package, of which it exports the reader.
  'test/integration/replica/library.test.ts': ['shared/nats/replica/library.ts'],
  'test/contract/chart.test.ts': ['knative', 'docs/example'],
  'test/contract/delivery/timeline.test.ts': ['knative'],
  'test/unit/manifests/shipped.test.ts': ['knative'],
  'test/unit/manifests/func-yaml.test.ts': ['knative', 'functions'],
  // Whatever `package.json` starts.
  'test/unit/tidy/help.test.ts': [''],
  // Names of test files begin there.
  'test/ladder/note-times.ts': [],
};

/** Wider than what a file needs that does not go through all of it. */
const WIDE = /^(?:$|\*|test$)/;

export function narrowed(file: string, places: readonly string[]): readonly string[] {
  const instead = NARROWED[file];
  return instead === undefined
    ? places
    : [...places.filter((place) => !WIDE.test(place)), ...instead];
}
