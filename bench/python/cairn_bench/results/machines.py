"""Which machine made a figure: what runs must have in common to stand in one history."""

GIB = 1 << 30


def machine_of(run, system=None):
    """In words: the name that the user has given, else processor, memory and, of a system, its
    media and MPI. The host's name does not count: two nodes of a cluster are one machine, and a
    container has another name in each run."""
    environment = run["environment"]
    if environment.get("machine_name"):
        return str(environment["machine_name"])
    memory = environment.get("memory_bytes")
    found = [
        environment.get("processor", "?"),
        f"{environment.get('processors', '?')} processors",
        f"{round(memory / GIB)} GiB" if memory else "",
    ]
    if system is not None:
        about = run["systems"][system]
        places = (about.get("pool_directory"), about.get("directory"))
        media = [place["type"] for place in places if place and place.get("type")]
        found += [" over ".join(media), about.get("mpi_version", "")]
    return ", ".join(filter(None, map(str, found)))
