// The word of a person that nobody looks after an object any more, where no namespace would tell.
// Pure.

export const OPERATOR_ANNOTATION = 'ballast.dev/operator';

export const isSaidGone = (annotations: Readonly<Record<string, string>>): boolean =>
  annotations[OPERATOR_ANNOTATION] === 'Gone';
