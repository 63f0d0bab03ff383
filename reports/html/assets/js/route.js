// Addresses of views: `#files?search=lib&status=checked`, `#file/12?finding=3`. Each state can be linked to.

function parseRoute(hash) {
	const [path, query] = hash.replace(/^#/, '').split('?', 2);
	const [view, argument] = path.split('/', 2);
	return { view: view || 'overview', argument: decode(argument ?? ''), params: new URLSearchParams(query ?? '') };
}

function decode(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

function routeTo(view, argument, params) {
	const path = argument === undefined || argument === '' ? view : `${view}/${encodeURIComponent(argument)}`;
	const some = Object.entries(params ?? {}).filter(([, value]) => value !== '' && value !== null && value !== undefined);
	const query = new URLSearchParams(some).toString();
	return `#${path}${query ? `?${query}` : ''}`;
}

// Changes the address of the current view, without a new step in the browser's history.
function updateRoute(params) {
	const route = parseRoute(location.hash);
	const all = { ...Object.fromEntries(route.params), ...params };
	history.replaceState(history.state, '', routeTo(route.view, route.argument, all));
	current = location.hash;
}

// The address that is shown.
let current = location.hash;
