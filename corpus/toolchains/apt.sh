# shellcheck shell=bash disable=SC2154 # the script that sources this sets cache, and archives if it wants other packages
# Sourced: apt with its own state in $cache/apt/SUITE, and an empty package database. Nothing is installed. Needs apt-get and
# a Debian mirror: the one that this system uses, or $DEBIAN_MIRROR. `$archives` are the kinds of packages: deb, deb-src.

# Runs apt-get with its own state. Only the network configuration is that of the system.
apt() {
	local suite=$1 state=$cache/apt/$1 kind
	shift
	if [[ ! -e $state/apt.conf ]]; then
		mkdir -p "$state/lists/partial"
		: >"$state/status"
		for kind in ${archives:-deb}; do
			echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main"
		done >"$state/sources.list"
		{
			apt-config dump Acquire | grep -v '^Acquire::IndexTargets' || true
			cat <<-CONF
				Dir::Etc::parts "/dev/null"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
				Dir::Etc::sourcelist "$state/sources.list"; Dir::State "$state"; Dir::State::status "$state/status";
				Dir::State::lists "$state/lists"; Dir::Cache "$state"; Dir::Log "$state";
				Acquire::Languages "none"; APT::Install-Recommends "false"; APT::Sandbox::User "root";
			CONF
		} >"$state/apt.conf"
	fi
	APT_CONFIG=$state/apt.conf apt-get -qq -y "$@"
}

# Updates the package lists of a suite if they are more than a day old.
refresh_lists() {
	local lists=$cache/apt/$1/lists
	[[ -n $(find "$lists" -maxdepth 1 -name '*Packages*' -mtime -1 2>/dev/null) ]] || apt "$1" update >&2
}

mirror() {
	local found=${DEBIAN_MIRROR:-}
	# shellcheck disable=SC2016 # apt expands these, not the shell
	[[ $found ]] || found=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/$') ||
		fail "this system's apt knows no Debian mirror: set DEBIAN_MIRROR"
	echo "$found"
}
