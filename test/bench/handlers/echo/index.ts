// The handler that both sides of P9 and P10 run: it looks at the object in the event and has
// nothing to do.
import { defineFunction } from '../../../../shared/function/define.ts';
import { checkPod } from './check-pod.ts';

export const echo = defineFunction({
  name: 'echo',
  purpose: 'Looks at the object in an event, as the benchmarks need it.',
  wakesOn: ['dev.knative.apiserver.resource.update'],
  config: {},
  open: () => undefined,
  handle: async (event) => {
    checkPod(event.data);
    return undefined;
  },
});
