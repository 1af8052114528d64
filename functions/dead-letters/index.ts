// Shows dead letters: an event that a broker gave up on becomes a Kubernetes Event on the object
// that it was about, and a count in the metrics. It wakes on every type, since any event may become
// a dead letter. It repairs nothing: the sweep of the function that refused the event does. On its
// own tick it checks that those sweeps ran, and sets conditions to Unknown that are True and that
// nobody renews. It differs from the other functions: a dead letter has no custom resource to
// observe.
//
// The files, in the order an event travels:
//   letter         parses the CloudEvent and the broker's error attributes
//   reconciler     counts it, logs it, and writes an Event
//   decide         the Event: on which object, with which name and note
//   steps          creates the Event, or adds to the count of its series
// and on the tick:
//   watchdog       reads the Leases and feeds, and writes their status
//   not-swept      when a condition that is True becomes Unknown
//   lease-ages     how long ago a Lease was renewed, without trust in other clocks
// beside them:
//   deps           the client, and what bounds the cost of a flood
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
      // The functions of Ballast that receive events.
      fallback: [
        'etcd-backup',
        'etcd-cluster',
        'etcd-peer',
        'etcd-restore',
        'metadata',
        'nats-cluster',
        'storage-migration',
      ],
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
    // Loaded with the first event, so that it does not delay readiness.
    const { isOwnTick, checkSweeps } = await import('./watchdog.ts');
    if (isOwnTick(event)) {
      await checkSweeps(context);
      return undefined;
    }
    const { recordLetter } = await import('./reconciler.ts');
    await recordLetter(event, context);
    return undefined;
  },
});
