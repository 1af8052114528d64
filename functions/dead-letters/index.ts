// Makes dead letters seen: whatever event a broker gave up on becomes a Kubernetes Event on the
// object that it was about, and a count in the metrics. Wakes on every type, since any event may
// die. Repairs nothing: what the event asked for, the sweep of its function finds by itself. On its
// own tick it looks whether that sweep came, and takes back what is said of what nobody looks at.
import { hostname } from 'node:os';
import { defineFunction } from '../../shared/function/define.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { list, text } from '../../shared/function/parsers.ts';
import { EVERY_TYPE } from '../../shared/function/sources.ts';
import { openKube } from '../../shared/kube/client.ts';
import { readJson } from '../../shared/kube/read-json.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

const names = list(text);

export const deadLetters = defineFunction({
  name: 'dead-letters',
  purpose: 'Shows events that no function took, on the objects that they were about.',
  wakesOn: [EVERY_TYPE],
  config: {
    kubeconfigPath: KUBECONFIG,
    namespace: {
      env: 'BROKER_NAMESPACE',
      meaning: 'where the broker is, on which letters are shown that name no object',
      parse: text,
      fallback: 'ballast-system',
    },
    broker: {
      env: 'BROKER_NAME',
      meaning: 'the name of that broker',
      parse: text,
      fallback: 'ballast',
    },
    functions: {
      env: 'LETTERS_OF',
      meaning: 'the functions whose letters are told apart, separated by commas',
      parse: names,
      // Those of ours that take events.
      fallback: ['metadata', 'nats-cluster', 'storage-migration'],
    },
  },
  open: ({ kubeconfigPath, namespace, broker, functions }, { clock, log, metrics }): Deps =>
    new Deps({
      kube: openKube({
        kubeconfigPath,
        userAgent: FIELD_MANAGER,
        fieldManager: FIELD_MANAGER,
        log,
      }),
      clock,
      metrics,
      place: { namespace, broker },
      functions,
      instance: hostname(),
    }),
  readApiServer: readJson,
  close: (deps) => deps.close(),
  handle: async (event, context) => {
    // Loaded with the first event: being ready must not wait for what nobody asked for yet.
    const { isOwnTick, watchSweeps } = await import('./watch.ts');
    if (isOwnTick(event)) {
      await watchSweeps(context);
      return undefined;
    }
    const { takeLetter } = await import('./work.ts');
    await takeLetter(event, context);
    return undefined;
  },
});
