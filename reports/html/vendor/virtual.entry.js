export { Virtualizer, observeWindowOffset, observeWindowRect, windowScroll } from '@tanstack/virtual-core';
