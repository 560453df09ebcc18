// The one way to make an element. Sources run as they are, and Node strips types but does not compile JSX.
export { createElement as h } from 'react';
