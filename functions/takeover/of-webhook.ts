// Tells the refusal of a webhook that cannot be called, as an operator that is stopped leaves them.
import { isKubeError } from '../../shared/kube/errors.ts';

export const isOfWebhook = (error: unknown): error is Error =>
  isKubeError(error) && /failed calling webhook/.test(error.answer?.message ?? '');
